import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HDNodeWallet } from 'ethers'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createInstallationLifeRepository } from '#shared/db/restore/installation-life-repository.ts'
import { createIssuedRepository } from '#shared/db/restore/issued-repository.ts'
import { ADDRESSES } from '#shared/db/wallets/wallet-models.ts'
import { AUDIT, BEAT, BORN, ceilingOf, numberOf, takenBackOf } from '#shared/domain/marks/mark-fields.ts'
import type { MarkPlace } from '#shared/ports/marks.ts'
import { createRedisMarkPlace } from '#shared/queues/redis-mark-place.ts'
import { createFolderMarkPlace } from '#shared/runtime/process/folder-mark-place.ts'
import { createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { createAddressSource, createQuoteOffers } from '#shared/usecases/quotes/addresses.ts'
import { deriveAhead } from '#shared/usecases/wallets/address-headroom.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { createMarkKeeper } from './keep-marks.ts'
import { readMarks, writeMarks } from './mark-records.ts'
import { createMarks } from './marks.ts'

/** Places that were emptied, damaged or signed by a former key, a clock that was put back, and wallets of listed addresses. */
const stores = useStores()
const DAY_MS = 86_400_000
const folders: string[] = []
const [former, newer] = [new Uint8Array(32).fill(7), new Uint8Array(32).fill(9)]
const markKeys = createMarkKeys(former)
let engine: Engine
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const collection = (name: string) => stores.db.connection.collection<Record<string, unknown> & { _id: string }>(name)
const COPIED = ['key_material', 'addresses', 'invoices', 'installation', 'chain_cursors']

/** The store as it is now, to be put back later, as a snapshot of its volume would. */
async function snapshot() {
  const copies = await Promise.all(COPIED.map(async (name) => [name, await collection(name).find().toArray()] as const))
  return async (): Promise<void> => {
    for (const [name, rows] of copies) {
      await collection(name).deleteMany({})
      if (rows.length > 0) await collection(name).insertMany(rows)
    }
  }
}

/** A process on the stores: what it holds in memory begins here. */
function process(places: readonly MarkPlace[], keys = markKeys) {
  const deps = { ...engine.deps, ...engine, markPlaces: places, markKeys: keys }
  const marks = createMarks(deps)
  const catalog = { ...engine.deps.catalog, hasNode: () => false }
  const source = createAddressSource({ ...deps, marks, catalog })
  const offers = createQuoteOffers({ ...deps, marks, catalog })
  const keeper = createMarkKeeper(deps)
  const info = engine.deps.catalog.asset('usdt_ethereum')
  return {
    marks,
    keep: () => keeper.run(),
    derive: () => deriveAhead({ ...deps, marks }, 64),
    add: async (value: string, kind: 'xpub' | 'pool' = 'xpub') => {
      const about = { workspaceId: engine.workspace.id, mode: 'live', family: 'evm', kind, value } as const
      return (await addWallet({ ...deps, marks }, { ...about, ...(kind === 'xpub' && { startIndex: 0 }) })).wallet
        .materialId
    },
    take: async (id: string, count: number) => {
      const taken: number[] = []
      for (let n = 0; n < count; n += 1)
        taken.push((await source.take({ id, mode: 'live', family: 'evm' }, 'ethereum')).index)
      return taken
    },
    offer: (id: string) =>
      offers.take({ id, mode: 'live', family: 'evm', kind: 'pool' }, info, 1_000_000n, engine.workspace.id),
  }
}
const xpub = () => HDNodeWallet.fromSeed(randomBytes(32)).derivePath("m/44'/60'/0'").neuter().extendedKey
const pool = () => Array.from({ length: 4 }, () => HDNodeWallet.createRandom().address).join('\n')
const redis = () => createRedisMarkPlace(stores.redis)
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'paymesh-kept-marks-'))
  folders.push(folder)
  return folder
}
/** An invoice is what tells the keeper that something was issued. */
const invoice = () => engine.open()
const record = () => createInstallationLifeRepository(stores.db).read()
const marksIn = async (place: MarkPlace, keys = markKeys) =>
  (await readMarks([place], await record(), 'all', keys)).marks
const empty = async () => {
  const keys = await stores.redis.producer.keys(`${stores.redis.prefix}:marks:*`)
  if (keys.length > 0) await stores.redis.producer.del(...keys)
}

beforeEach(async () => {
  for (const name of [...COPIED, 'wallets', 'audit_log', 'workspaces']) await collection(name).deleteMany({})
  await empty()
  engine = await openEngine(stores)
})

// Guarantee: a place that was emptied gets everything again from the process that keeps the marks, also while nothing is issued.
it('gives an emptied place all that was ever said, while nothing is issued', async () => {
  const on = process([redis()])
  await on.keep()
  const key = await on.add(xpub())
  await on.derive()
  await invoice()
  await on.keep()
  engine.advance(60_000)
  await on.keep()
  const before = await marksIn(redis())
  await empty()
  await on.keep()
  const after = await marksIn(redis())
  expect([...after.keys()].toSorted()).toEqual([...before.keys()].toSorted())
  for (const field of [ceilingOf(key), numberOf(engine.workspace.id, 'test'), BORN])
    expect(after.get(field)?.value).toBe(before.get(field)?.value)
})

it('notices a store that came back in the second in which its only place was emptied', async () => {
  const on = process([redis()])
  await on.keep()
  const key = await on.add(xpub())
  await on.derive()
  const putBack = await snapshot()
  const issued = await on.take(key, 40)
  await invoice()
  await on.derive()
  await on.keep()
  const { beat } = await record()
  await putBack()
  await empty()
  await on.keep()
  // The next process that keeps the marks finds them, if this one ends now.
  const marks = await marksIn(redis())
  expect(marks.get(BEAT)?.value).toBe(beat)
  expect(marks.get(ceilingOf(key))?.value).toBeGreaterThan(Math.max(...issued))
  await on.keep()
  await on.derive()
  const again = await process([redis()]).take(key, 20)
  expect(Math.min(...again)).toBeGreaterThan(Math.max(...issued))
})

it('records what is issued after the clock was put back by an hour', async () => {
  const on = process([redis()])
  engine.advance(3_600_000)
  await on.keep()
  await invoice()
  await on.keep()
  engine.advance(-3_600_000)
  await invoice()
  await on.keep()
  const putBack = await snapshot()
  await invoice()
  await on.keep()
  await putBack()
  expect(await process([redis()]).marks.isStoreBehind()).toBe(true)
})

describe('a folder', () => {
  it('of which files are damaged answers with the others, and says so to a restore', async () => {
    const folder = newFolder()
    await process([createFolderMarkPlace(folder)]).keep()
    const { installation, life } = await record()
    for (const content of ['', '{"beat":"1'])
      writeFileSync(join(folder, `${installation}.${life}.${randomUUID()}.marks`), content)
    const next = process([createFolderMarkPlace(folder)])
    await next.keep()
    await invoice()
    await next.keep()
    const place = createFolderMarkPlace(folder)
    expect((await marksIn(place)).get(BEAT)?.value).toBe((await record()).beat)
    await expect(place.lives(installation)).rejects.toThrow('damaged')
  })

  // Guarantee: a text that no key signed never hides one that is signed.
  it('keeps every mark when the key that signed the files of other writers is dropped', async () => {
    const folder = newFolder()
    await process([createFolderMarkPlace(folder)]).keep()
    const [ring, one] = [createMarkKeys([newer, former]), createMarkKeys(newer)]
    const audit = (value: number) => ({ field: AUDIT, value })
    const gone = [ceilingOf('gone'), takenBackOf('row')]
    const old = gone.map((field) => ({ field, value: 70, detail: '{}' }))
    await writeMarks([createFolderMarkPlace(folder)], await record(), [...old, audit(5)], markKeys)
    // Several writers copy what the former key signed; the one that keeps the marks signs it again.
    const writers = Array.from({ length: 4 }, () => createFolderMarkPlace(folder))
    for (const [at, writer] of writers.entries()) await writeMarks([writer], await record(), [audit(6 + at)], ring)
    await process([createFolderMarkPlace(folder)], ring).keep()
    for (const writer of writers) await writeMarks([writer], await record(), [audit(10)], ring)
    await process([createFolderMarkPlace(folder)], one).keep()
    const marks = await marksIn(createFolderMarkPlace(folder), one)
    expect([...marks.keys()]).toEqual(expect.arrayContaining([...gone, AUDIT, BORN]))
  })
})

// Guarantee: a listed address is not shown to a second customer because the store forgot the first.
describe('an address of a pool', () => {
  it('is not offered while the store is behind', async () => {
    const on = process([redis()])
    await on.keep()
    const listed = await on.add(pool(), 'pool')
    await invoice()
    await on.keep()
    const putBack = await snapshot()
    await invoice()
    await on.keep()
    await putBack()
    await expect(process([redis()]).offer(listed)).rejects.toMatchObject({ code: 'NO_WALLET_FOR_ASSET' })
  })

  it('is not offered from the memory of a process that lived on', async () => {
    const on = process([redis()])
    await on.keep()
    const listed = await on.add(pool(), 'pool')
    await invoice()
    await on.keep()
    const putBack = await snapshot()
    await on.offer(listed)
    await invoice()
    await on.keep()
    await putBack()
    await process([redis()]).keep()
    engine.advance(2_000)
    await expect(on.offer(listed)).rejects.toMatchObject({ code: 'NO_WALLET_FOR_ASSET' })
  })

  it('is offered again once the longest invoice that it may belong to can no longer be paid, and not before', async () => {
    const on = process([redis()])
    await on.keep()
    const listed = await on.add(pool(), 'pool')
    await invoice()
    await on.keep()
    const putBack = await snapshot()
    await invoice()
    await on.keep()
    await putBack()
    const lossAt = engine.deps.clock.now()
    const after = process([redis()])
    await after.keep()
    // Thirty days of the invoice, a day of late money, a week of exact amounts.
    engine.advance(38 * DAY_MS - 60_000)
    await expect(after.offer(listed)).rejects.toMatchObject({ code: 'NO_WALLET_FOR_ASSET' })
    engine.advance(120_000 + engine.deps.clock.now() - lossAt)
    expect((await after.offer(listed))?.hold).toBe('address')
  })

  // Guarantee: an address that was listed and used in the lost minutes, and is listed again, is given to nobody who would share it with a lost payer.
  it('that the store lacks waits as well when it is listed again, although the process that keeps marks lived on', async () => {
    const on = process([redis()])
    await on.keep()
    await invoice()
    await on.keep()
    const putBack = await snapshot()
    const value = pool()
    await on.add(value, 'pool')
    await writeMarks([redis()], await record(), [{ field: AUDIT, value: 99 }], markKeys)
    await invoice()
    await on.keep()
    await putBack()
    await on.keep()
    await on.keep()
    const again = await on.add(value, 'pool')
    await expect(on.offer(again)).rejects.toMatchObject({ code: 'NO_WALLET_FOR_ASSET' })
    engine.advance(40 * DAY_MS)
    expect((await on.offer(again))?.hold).toBe('address')
  })

  it('waits by the settings of its own workspace, and not by those of another one', async () => {
    const { workspace } = engine
    const policy = { ...workspace.policy, lateGraceMs: 7 * DAY_MS, quarantineMs: 40 * DAY_MS }
    await engine.deps.workspaces.update(workspace.id, { policy })
    const own = await process([]).add(pool(), 'pool')
    const stranger = await createWorkspace(engine.deps, { name: 'Other', ownerEmail: 'o@example.com', actor: 'test' })
    const theirs = { workspaceId: stranger.id, mode: 'live', family: 'evm', kind: 'pool' } as const
    const other = (await addWallet({ ...engine.deps, ...engine }, { ...theirs, value: pool() })).wallet.materialId
    const issued = { firstFree: () => 0, lastNumber: () => 0, auditNumber: 0 }
    await createIssuedRepository(stores.db).takePrecautions(issued, { quarantineMs: null, at: 1_000 })
    const restOf = async (id: string) =>
      (await stores.db.collection(ADDRESSES).findOne({ heldBy: id }))?.offeredFrom?.[id]
    expect(await restOf(own)).toBe(1_000 + (30 + 7 + 40) * DAY_MS)
    expect(await restOf(other)).toBe(1_000 + (30 + 1 + 7) * DAY_MS)
  })
})
