import { expect, it } from 'vitest'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { createLogReader } from './read-logs.ts'

const CONTRACT = `0x${'c'.repeat(40)}`
const range = { from: 1, to: 130, recipients: [`0x${'0'.repeat(64)}`], most: 1 }

/** A node without logs that gives no response in time while it is busy; counts its requests. */
function busyNode() {
  const state = { isBusy: true, requests: 0 }
  const call = async () => {
    state.requests += 1
    if (state.isBusy) throw new RpcFailure('late', 'no response within 10 s')
    return []
  }
  return { state, node: { host: 'node.example', call } as unknown as RpcNode }
}

// Guarantee: an hour in which a node was slow does not end the reading of logs for good: in one request a range of usual length fits again.
it('reads logs again after a node was slow, also where only one request is worth it', async () => {
  const { state, node } = busyNode()
  const reader = createLogReader({ contracts: [CONTRACT], topics: [], rangeMax: 5_000 })
  for (let times = 0; times < 20; times += 1) await reader.within(node, range).catch(() => null)
  expect(await reader.within(node, range)).toBe(null)
  state.isBusy = false
  for (let steps = 0; steps < 100; steps += 1) await reader.within(node, range)
  expect(await reader.within(node, range)).toEqual([])
})
