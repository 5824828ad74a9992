import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ApiAnswer, TestApi } from '#test/support/api.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { openContractApi, outcome } from './contract-stage.ts'
import { createCrash } from './failing-parts.ts'
import { footprint, KEYED_OPERATIONS, oneEffect, prepareKeyed } from './keyed-operations.ts'

const stores = useStores()
const crash = createCrash()
const KEY = 'retried'
let api: TestApi
let dying: TestApi

beforeAll(async () => {
  api = await openContractApi(stores)
  dying = await openContractApi(stores, { deps: crash.within })
})
afterAll(() => Promise.all([api.close(), dying.close()]))
beforeEach(async () => {
  await api.engine.watchEverything()
  await api.engine.publishRates()
})

/** Past the lease of a request that will never end. */
async function afterLease(): Promise<void> {
  for (const { engine } of [api, dying]) engine.advance(5_001)
  await api.engine.publishRates()
}

/** How a request can end behind one of its writes; true when it got that far. */
const WAYS = {
  'loses the answer to a write': (write: number, request: () => Promise<ApiAnswer>) =>
    crash.losesAnswer(write, request),
  'dies behind a write': async (write: number, request: () => Promise<ApiAnswer>) => {
    const died = await crash.dies(write, request)
    await afterLease()
    return died
  },
}

// Guarantee: a request that ended anywhere between its work and its answer takes effect once, however it is retried.
describe.each(Object.entries(WAYS))('a process that %s', (_way, fail) => {
  it.each(
    sampleOf(
      KEYED_OPERATIONS.map((keyed) => [keyed.name, keyed] as const),
      3,
    ),
  )('leaves %s to its retry', async (_name, keyed) => {
    const expected = await oneEffect(stores, api, keyed)
    let write = 0
    for (let failed = true; failed; ) {
      write += 1
      const request = await prepareKeyed(api, keyed)
      failed = await fail(write, () => request.sendTo(dying, KEY))
      const retried = await request.sendTo(api, KEY)
      expect([write, ...outcome(retried)]).toEqual([write, expected.status, ''])
      expect([write, await footprint(stores, request.workspaceId)]).toEqual([write, expected.footprint])
      const again = await request.sendTo(api, KEY)
      expect([again.status, again.text]).toEqual([expected.status, retried.text])
      expect(again.headers.get('idempotent-replayed')).toBe('true')
    }
    expect(write).toBeGreaterThan(1)
  })
})
