import { expect, it } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { moveCursor, type ScanSession } from '#shared/usecases/scanning/scan-session.ts'
import { useStores } from '#test/support/stores.ts'
import { createChainPaces } from './chain-paces.ts'

const stores = useStores()
const START = 1_800_000_000_000
const CURSOR: ChainCursor = {
  ...{ id: 'live:base', mode: 'live', network: 'base', height: 0, hash: '0x0', time: START, window: [] },
  ...{ headHeight: 0, headSeenAt: START, finalizedHeight: null, status: 'live', haltReason: null },
  ...{ genesisHash: '0x0', lease: null },
}

// Guarantee: what a scanner measures reaches every other process with the cursor: counts, times and the depth of reorganisations follow it.
it('is what the scan of a network measured while its cursor moved', async () => {
  const cursors = createCursorRepository(stores.db)
  await cursors.create(CURSOR)
  const lease = await cursors.acquireLease('live', 'base', 'one', 60_000)
  const clock = { time: START, now: () => clock.time }
  const session = {
    deps: { ...stores.runtime, cursors, clock },
    source: { mode: 'live', network: 'base' },
    lease: { epoch: lease?.epoch ?? 0, isHeld: () => true },
    cursor: CURSOR,
  } as unknown as ScanSession
  const paces = createChainPaces({ cursors, logger: stores.runtime.logger })
  const catalog = createCatalog({ live: {}, test: {} }, paces)
  const facts = () => ({
    paceMs: catalog.blockTimeMs('base', 'live'),
    count: catalog.confirmations('usdc_base', 'live'),
    finalMs: catalog.finalizesAfterMs('base', 'live'),
  })
  const row = { paceMs: 200, count: 100, finalMs: 960_000 }
  for (let height = 35; height <= 30 * 35; height += 35) {
    clock.time += 70_000
    const head = { headHeight: height, headSeenAt: clock.time, finalizedHeight: height - 300 }
    await moveCursor(session, { height, hash: `0x${height}`, time: clock.time, ...head })
  }
  expect(facts()).toEqual(row)
  await paces.refresh()
  // Two seconds a block again, as before November 2026.
  expect(facts()).toEqual({ paceMs: 2_000, count: 10, finalMs: 600_000 })
  expect(catalog.confirmations('usdc_base', 'test')).toBe(100)
  expect((await cursors.find('live', 'base'))?.measured?.marks).toHaveLength(25)
})

it('stays what it was while the store does not answer', async () => {
  const measured = { marks: Array.from({ length: 25 }, (_, at): [number, number] => [at * 100, START + at * 100_000]) }
  let fails = false
  const cursors = {
    list: async () => {
      if (fails) throw new Error('away')
      return [{ ...CURSOR, measured: { ...measured, finality: [], reorg: null } }]
    },
  }
  const paces = createChainPaces({ cursors, logger: stores.runtime.logger })
  await paces.refresh()
  fails = true
  await paces.refresh()
  expect(createCatalog({ live: {}, test: {} }, paces).blockTimeMs('base', 'live')).toBe(1_000)
})
