import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useVisitors } from '#services/checkout/visitors.fixture.ts'
import { SCARCE, type Scarce } from '#shared/domain/scarce.ts'
import { createMemoryTokenBuckets } from '#shared/queues/token-bucket.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'
import { PAYER_PROBES } from './scarce-payers.ts'
import { PEOPLE_PROBES } from './scarce-people.ts'
import type { Probe } from './scarce-probe.ts'

const stores = useStores()
const visitors = useVisitors(stores)
let admin: AdminCaller
beforeAll(async () => {
  const now = stores.runtime.clock.now()
  const after = (_delayMs: number, run: () => void) => {
    run()
    return () => undefined
  }
  admin = await adminCaller(stores, { deps: () => ({ clock: { now: () => now }, after }) })
})
afterAll(() => admin.deps.listen.hub.close())

/** Does not compile without a probe for each thing of the table. */
const PROBES: Readonly<Record<Scarce, () => Promise<Probe>>> = {
  ...inWorld(PAYER_PROBES, () => {
    const stage = visitors.stage()
    // No token comes back while a test runs, however long it takes.
    Object.assign(stage.deps, { buckets: createMemoryTokenBuckets(() => 1_000_000) })
    const withoutBuckets = () =>
      Object.assign(stage.deps, { buckets: { take: async () => ({ allowed: true, retryAfter: 1 }) } })
    return { stage, visitors, withoutBuckets }
  }),
  ...inWorld(PEOPLE_PROBES, () => admin.deps),
}

function inWorld<Key extends string, World>(
  probes: Readonly<Record<Key, (world: World) => Promise<Probe>>>,
  world: () => World,
): Record<Key, () => Promise<Probe>> {
  const keys = Object.keys(probes) as Key[]
  return Object.fromEntries(keys.map((key) => [key, () => probes[key](world())])) as Record<Key, () => Promise<Probe>>
}

// Guarantee: of everything that outsiders can use up, one of them gets a share and no more, and leaves some to everybody else.
it.each(Object.keys(SCARCE) as Scarce[])(
  'one source uses up its share of %s, and another one still gets some',
  {
    timeout: 120_000,
  },
  async (thing) => {
    const { budget, take, end } = await PROBES[thing]()
    let taken = 0
    while (await take('one')) {
      taken += 1
      expect(taken).toBeLessThanOrEqual(budget)
    }
    expect(taken).toBe(budget)
    expect(await take('other')).toBe(true)
    await end?.()
  },
)

it('names the file that enforces each budget', () => {
  for (const { enforcedIn } of Object.values(SCARCE)) {
    expect(existsSync(new URL(`../../${enforcedIn}`, import.meta.url))).toBe(true)
  }
})
