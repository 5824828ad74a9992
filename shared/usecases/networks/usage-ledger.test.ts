import { expect, it } from 'vitest'
import type { DayUsage } from '#shared/ports/node-usage.ts'
import { createUsageLedger } from './usage-ledger.ts'

const DAY_MS = 86_400_000
const LABELS = { mode: 'live', network: 'ethereum', provider: 'alchemy', method: 'eth_call' }
const logger = { warn: () => undefined }

/** A ledger at the end of a day, and a store that keeps what it is given or fails. */
function stage() {
  let now = 10 * DAY_MS - 1
  let fails = false
  const counted: string[] = []
  const stored: (readonly DayUsage[])[] = []
  const metrics = { count: (name: string) => void counted.push(name) }
  const ledger = createUsageLedger(metrics, { now: () => now })
  const add = async (rows: readonly DayUsage[]) => {
    if (fails) throw new Error('the primary does not respond')
    stored.push(rows)
  }
  const call = (labels = LABELS) => {
    ledger.metrics.count('node_calls_total', labels)
    ledger.metrics.count('node_request_bytes_total', labels, 10)
    ledger.metrics.count('node_response_bytes_total', labels, 100)
  }
  return {
    ...{ call, counted, stored, ledger, flush: () => ledger.flush({ add }, logger) },
    tomorrow: () => {
      now += DAY_MS
    },
    break: (state: boolean) => {
      fails = state
    },
  }
}

const row = (calls: number, day: number) => ({
  ...{ mode: 'live', network: 'ethereum', provider: 'alchemy', method: 'eth_call' },
  ...{ day: day * DAY_MS, calls, requestBytes: 10 * calls, responseBytes: 100 * calls },
})

it('stores calls under the UTC day on which they were made, once', async () => {
  const { call, flush, stored, tomorrow, counted } = stage()
  call()
  call()
  tomorrow()
  call()
  await flush()
  await flush()
  expect(stored).toEqual([[row(2, 9), row(1, 10)], []])
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
  expect(scene.stored).toEqual([[row(2, 9)]])
})

it('stores nothing of counters that are none of calls, or of no network', async () => {
  const { ledger, flush, stored, call } = stage()
  ledger.metrics.count('scanner_rpc_total', LABELS)
  call({ ...LABELS, network: '' })
  call({ ...LABELS, mode: 'other' })
  await flush()
  expect(stored).toEqual([[]])
})
