import { beforeAll, describe, expect, it, vi } from 'vitest'
import { createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { startHeadroomLoop } from './headroom-loop.ts'

const stores = useStores()
const WAIT = { timeout: 15_000, interval: 20 }
let engine: Engine

beforeAll(async () => {
  engine = await openEngine(stores)
})

const leaseHeldBy = (holder: { owner: string | null }) => ({
  acquire: async (_id: string, owner: string) => {
    holder.owner ??= owner
    return holder.owner === owner
  },
  release: async (_id: string, owner: string) => {
    if (holder.owner === owner) holder.owner = null
  },
})
const derived = async () => (await engine.deps.wallets.listMaterials()).map((material) => material.derivedCount)

describe('the headroom loop', () => {
  it('derives while it holds the lease, waits while another does, and frees it at the end', async () => {
    const { deps, addressBook, secretBox } = engine
    const holder: { owner: string | null } = { owner: 'another process' }
    const leases = leaseHeldBy(holder)
    const acquire = vi.spyOn(leases, 'acquire')
    const stop = startHeadroomLoop(
      { ...deps, addressBook, secretBox, leases, markPlaces: [], markKeys: createMarkKeys(new Uint8Array(32).fill(7)) },
      60,
    )
    await vi.waitFor(() => expect(acquire.mock.calls.length).toBeGreaterThan(1), WAIT)
    expect(await derived()).toEqual([24, 24, 24, 24, 24, 24])

    holder.owner = null
    await vi.waitFor(async () => expect(await derived()).toEqual([60, 60, 60, 60, 60, 60]), WAIT)
    expect(holder.owner).not.toBeNull()
    await stop()
    expect(holder.owner).toBeNull()
  })
})
