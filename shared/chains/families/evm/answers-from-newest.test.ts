import { expect, it } from 'vitest'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { answersFromNewest } from './answers-from-newest.ts'

const HEAD = 506_697_453
const hashOf = (height: number): string => `0x${height.toString(16).padStart(64, '0')}`

/** A node whose history contract remembers so many blocks, as of block `stateOf` of the one that is named. */
function nodeOf(ring: number, stateOf: (height: number) => number): RpcNode {
  const header = (number: number) => ({
    number: `0x${number.toString(16)}`,
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: '0x65000000',
    logsBloom: `0x${'0'.repeat(512)}`,
  })
  const answers: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
    eth_getBlockByNumber: ([name]) => header(name === 'latest' ? HEAD : Number(name)),
    eth_getStorageAt([, slot, name]) {
      const newest = stateOf(Number(name)) - 1
      return hashOf(newest - ((((newest - Number(slot)) % ring) + ring) % ring))
    },
  }
  const call: RpcNode['call'] = async (method, params, schema) => schema.parse(answers[method]?.(params))
  return { call } as RpcNode
}

// Guarantee: a node that keeps one state alone shows no "unchanged" on Arbitrum either, whose history contract remembers more blocks.
it.each([
  ['Ethereum', 8_191, false],
  ['Arbitrum', 393_168, true],
])('balances of the newest state under an older header are recognised on %s', async (_, ring, isArbitrum) => {
  const old = HEAD - 900
  expect(
    await answersFromNewest(
      nodeOf(ring, () => HEAD),
      old,
      isArbitrum,
    ),
  ).toBe(true)
  expect(
    await answersFromNewest(
      nodeOf(ring, () => HEAD),
      HEAD,
      isArbitrum,
    ),
  ).toBe(false)
  expect(
    await answersFromNewest(
      nodeOf(ring, (height) => height),
      old,
      isArbitrum,
    ),
  ).toBe(false)
})
