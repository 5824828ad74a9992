import { beforeEach, describe, expect, it } from 'vitest'
import { LEASES } from '#shared/db/installation/lease-model.ts'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import type { ChainCursor, ScanTrouble } from '#shared/ports/cursors.ts'
import { useStores } from '#test/support/stores.ts'
import { CHAIN_CURSORS } from './cursor-model.ts'
import { createCursorRepository } from './cursor-repository.ts'

const stores = useStores()
const repository = () => createCursorRepository(stores.db)
const LEASE_MS = 20_000

const CURSOR: ChainCursor = {
  id: 'test:ethereum',
  mode: 'test',
  network: 'ethereum',
  height: 10,
  hash: '0x10',
  time: 1_000,
  window: [
    [9, '0x9'],
    [10, '0x10'],
  ],
  headHeight: 12,
  headSeenAt: 2_000,
  finalizedHeight: null,
  status: 'live',
  haltReason: null,
  genesisHash: '0x0',
  lease: null,
}

beforeEach(async () => {
  await stores.db.collection(CHAIN_CURSORS).deleteMany({})
})

const acquire = (owner: string, leaseMs = LEASE_MS) => repository().acquireLease('test', 'ethereum', owner, leaseMs)

describe('cursor', () => {
  it('is created once and read back whole', async () => {
    expect(await repository().find('test', 'ethereum')).toBeNull()
    const created = await Promise.all([10, 11, 12].map((height) => repository().create({ ...CURSOR, height })))
    expect(new Set(created.map((cursor) => cursor.height)).size).toBe(1)
    expect(await repository().find('test', 'ethereum')).toEqual(created[0])
    expect(await repository().list()).toEqual([created[0]])
  })

  it('keeps what it is stuck on, and reads a cursor of an older release', async () => {
    await repository().create(CURSOR)
    expect(await repository().find('test', 'ethereum')).toEqual(CURSOR)
    const lease = await acquire('a')
    const trouble: ScanTrouble = {
      ...{
        kind: 'node' as const,
        height: 11,
        hash: null,
        method: 'trace_block',
        reason: 'too large',
        host: 'a.example',
      },
      ...{ firstAt: 3_000, lastAt: 4_000, tries: 2 },
    }
    const change = { trouble, advancedAt: 2_500, atHeadAt: 2_600, headHeight: 14 }
    expect(await repository().advance('test', 'ethereum', { hash: '0x10', epoch: lease?.epoch ?? 0 }, change)).toBe(
      true,
    )
    expect(await repository().find('test', 'ethereum')).toMatchObject({ ...change, height: 10 })
    const passed = { hash: '0x11', height: 11, trouble: null }
    await repository().advance('test', 'ethereum', { hash: '0x10', epoch: lease?.epoch ?? 0 }, passed)
    expect(await repository().find('test', 'ethereum')).toMatchObject(passed)
  })

  // Guarantee: a release and its audit row are stored together or not at all.
  it('stores a release with its audit row, or neither', async () => {
    await repository().create(CURSOR)
    const release = { through: 5_000, hash: '0x10', by: 'user:o', at: 6_000, opId: 'op' }
    const audit = (id: string) => ({
      ...{ id, at: 6_000, actor: 'user:o', action: 'chain.deadlines_released' as const, subject: 'test:ethereum' },
      ...{ workspaceId: null, mode: 'test' as const, detail: {} },
    })
    const store = (change: Partial<typeof release>, id: string) =>
      repository().releaseDeadlines('test', 'ethereum', { ...release, ...change }, audit(id))
    expect(await store({ hash: '0x9' }, 'moved')).toBe(false)
    expect(await store({}, 'first')).toBe(true)
    expect(await store({}, 'again')).toBe(false)
    expect(await store({ through: 4_000 }, 'earlier')).toBe(false)
    expect(await store({ through: 5_500 }, 'later')).toBe(true)
    // An audit row that is larger than a document may be cannot be stored: then the release is not either.
    const broken = { ...audit('broken'), detail: { text: 'x'.repeat(17 * 1_024 * 1_024) } }
    const refused = repository().releaseDeadlines('test', 'ethereum', { ...release, through: 5_900 }, broken)
    await expect(refused).rejects.toThrow()
    expect((await repository().find('test', 'ethereum'))?.released).toEqual({ ...release, through: 5_500 })
    const rows = stores.db.connection.collection('audit_log').find({ subject: 'test:ethereum' })
    expect((await rows.toArray()).map(({ _id }) => String(_id)).sort()).toEqual(['first', 'later'])
  })

  // Guarantee: of two scanners that both believe to hold the lease, only the newer one moves the cursor.
  it('moves only for the current hash and epoch', async () => {
    await repository().create(CURSOR)
    const old = await acquire('a', -1)
    const current = await acquire('b')
    if (old === null || current === null) throw new Error('both took the lease in turn')
    const next = { height: 11, hash: '0x11', time: 3_000, window: [[11, '0x11']] as const }
    const advance = (hash: string, epoch: number) => repository().advance('test', 'ethereum', { hash, epoch }, next)
    expect(await advance('0x10', old.epoch)).toBe(false)
    expect(await advance('0xother', current.epoch)).toBe(false)
    expect(await Promise.all([advance('0x10', current.epoch), advance('0x10', current.epoch)])).toContain(false)
    const moved = await repository().find('test', 'ethereum')
    expect(moved).toMatchObject({ ...next, headHeight: 12, lease: { owner: 'b', epoch: current.epoch } })
  })
})

describe('lease of a cursor', () => {
  // Guarantee: each new holder gets a higher epoch, also after a release.
  it('goes to one of ten, and its epoch rises with each holder', async () => {
    await repository().create(CURSOR)
    const tries = await Promise.all(Array.from({ length: 10 }, (_, nth) => acquire(`owner-${nth}`)))
    expect(tries.filter((lease) => lease !== null)).toEqual([{ epoch: 1 }])
    const winner = `owner-${tries.findIndex((lease) => lease !== null)}`
    expect(await acquire(winner)).toEqual({ epoch: 1 })
    expect(await acquire('other')).toBeNull()
    await repository().releaseLease('test', 'ethereum', 'other')
    expect(await acquire('other')).toBeNull()
    await repository().releaseLease('test', 'ethereum', winner)
    expect((await repository().find('test', 'ethereum'))?.lease).toBeNull()
    expect(await acquire(winner, -1)).toEqual({ epoch: 2 })
    expect(await acquire('other')).toEqual({ epoch: 3 })
  })

  // Guarantee: a holder that was lost with the machine whose clock was ahead is not waited for as long.
  it('ends where it was taken under a clock that was an hour ahead', async () => {
    await repository().create(CURSOR)
    await acquire('lost')
    const ahead = new Date(stores.runtime.clock.now() + 3_600_000)
    const cursor = { _id: `${CURSOR.mode}:${CURSOR.network}` }
    await stores.db.collection(CHAIN_CURSORS).updateOne(cursor, { $set: { 'lease.until': ahead } })
    expect(await acquire('other')).toEqual({ epoch: 2 })
    const leases = createLeaseRepository(stores.db)
    const name = stores.runtime.random.uuid()
    await leases.acquire(name, 'lost', LEASE_MS)
    await stores.db.collection(LEASES).updateOne({ _id: name }, { $set: { until: ahead } })
    expect(await leases.acquire(name, 'other', LEASE_MS)).toBe(true)
  })

  it('is not to be had for an unknown cursor', async () => {
    expect(await acquire('a')).toBeNull()
  })
})

describe('named lease', () => {
  it('is held by one owner until it is released or runs out', async () => {
    const leases = createLeaseRepository(stores.db)
    const name = stores.runtime.random.uuid()
    const tries = await Promise.all(
      Array.from({ length: 10 }, (_, nth) => leases.acquire(name, `owner-${nth}`, LEASE_MS)),
    )
    expect(tries.filter(Boolean)).toHaveLength(1)
    const winner = `owner-${tries.indexOf(true)}`
    expect(await leases.acquire(name, winner, LEASE_MS)).toBe(true)
    await leases.release(name, 'somebody')
    expect(await leases.acquire(name, 'somebody', LEASE_MS)).toBe(false)
    await leases.release(name, winner)
    expect(await leases.acquire(name, 'somebody', -1)).toBe(true)
    expect(await leases.acquire(name, winner, LEASE_MS)).toBe(true)
  })
})
