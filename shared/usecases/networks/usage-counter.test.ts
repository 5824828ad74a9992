import { expect, it } from 'vitest'
import { createNodePrices } from '#shared/chains/node-prices.ts'
import type { DayUsage } from '#shared/ports/node-usage.ts'
import { createUsageCounter } from './usage-counter.ts'

const DAY_MS = 86_400_000
const LABELS = { mode: 'live', network: 'ethereum', provider: 'alchemy', method: 'eth_call' }
const logger = { warn: () => undefined }

/** A counter at the end of a day, and a store that keeps what it is given or fails. */
function stage() {
  let now = 10 * DAY_MS - 1
  let fails = false
  const counted: string[] = []
  const stored: (readonly DayUsage[])[] = []
  const metrics = { count: (name: string) => void counted.push(name) }
  const usage = createUsageCounter(metrics, { now: () => now }, createNodePrices({ live: {}, test: {} }))
  const add = async (rows: readonly DayUsage[]) => {
    if (fails) throw new Error('the primary does not respond')
    stored.push(rows)
  }
  const call = (labels = LABELS) => {
    usage.metrics.count('node_calls_total', labels)
    usage.metrics.count('node_request_bytes_total', labels, 10)
    usage.metrics.count('node_response_bytes_total', labels, 100)
  }
  return {
    ...{ call, counted, stored, usage, flush: () => usage.flush({ add }, logger) },
    tomorrow: () => {
      now += DAY_MS
    },
    break: (state: boolean) => {
      fails = state
    },
  }
}

/** A call costs 26 units by the list. */
const row = (calls: number, day: number, firstAt: number) => ({
  ...{ mode: 'live', network: 'ethereum', provider: 'alchemy', unit: 'alchemy', day: day * DAY_MS, firstAt },
  ...{ calls, units: 26 * calls, bytes: 110 * calls },
})

it('stores calls under the UTC day on which they were made, once', async () => {
  const { call, flush, stored, tomorrow, counted } = stage()
  call()
  call()
  tomorrow()
  call()
  await flush()
  await flush()
  expect(stored).toEqual([[row(2, 9, 10 * DAY_MS - 1), row(1, 10, 11 * DAY_MS - 1)], []])
  expect(counted.filter((name) => name === 'node_calls_total')).toHaveLength(3)
})

// Guarantee: a store that is away loses no figure; what was counted meanwhile is added.
it('keeps what could not be stored for the next time', async () => {
  const scene = stage()
  scene.call()
  scene.break(true)
  const failing = scene.flush()
  scene.call()
  await failing
  expect(scene.stored).toEqual([])
  expect(scene.counted).toContain('node_usage_failed_total')
  scene.break(false)
  await scene.flush()
  expect(scene.stored).toEqual([[row(2, 9, 10 * DAY_MS - 1)]])
})

it('stores nothing of counters that are none of calls, or of no network', async () => {
  const { usage, flush, stored, call } = stage()
  usage.metrics.count('scanner_rpc_total', LABELS)
  call({ ...LABELS, network: '' })
  call({ ...LABELS, mode: 'other' })
  await flush()
  expect(stored).toEqual([[]])
})

it('counts methods in one row, each at its price', async () => {
  const { usage, flush, stored } = stage()
  const infura = { ...LABELS, provider: 'infura' }
  for (const method of ['eth_getLogs', 'eth_chainId']) usage.metrics.count('node_calls_total', { ...infura, method })
  usage.metrics.count('node_response_bytes_total', { ...infura, method: 'eth_getLogs' }, 70)
  await flush()
  const key = { mode: 'live', network: 'ethereum', provider: 'infura', unit: 'infura' }
  const sums = { calls: 2, units: 255 + 5, bytes: 70 }
  expect(stored).toEqual([[{ ...key, ...sums, day: 9 * DAY_MS, firstAt: 10 * DAY_MS - 1 }]])
})
