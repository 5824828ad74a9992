import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HDNodeWallet } from 'ethers'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createInstallationLifeRepository } from '#shared/db/restore/installation-life-repository.ts'
import { BEAT, ceilingOf, numberOf } from '#shared/domain/marks/mark-fields.ts'
import type { MarkPlace } from '#shared/ports/marks.ts'
import { createRedisMarkPlace } from '#shared/queues/redis-mark-place.ts'
import { createFolderMarkPlace } from '#shared/runtime/process/folder-mark-place.ts'
import { createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { createAddressSource } from '#shared/usecases/quotes/addresses.ts'
import { deriveAhead } from '#shared/usecases/wallets/address-headroom.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { standIn } from '#test/support/stand-in.ts'
import { useStores } from '#test/support/stores.ts'
import { createMarkKeeper } from './keep-marks.ts'
import { readMarks, writeMarks } from './mark-records.ts'
import { createMarks } from './marks.ts'

const stores = useStores()
const folder = mkdtempSync(join(tmpdir(), 'paymesh-marks-'))
const markKeys = createMarkKeys(new Uint8Array(32).fill(7))
let engine: Engine
afterAll(() => rmSync(folder, { recursive: true, force: true }))

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
function process(places: readonly MarkPlace[]) {
  const deps = { ...engine.deps, ...engine, markPlaces: places, markKeys }
  const marks = createMarks(deps)
  const source = createAddressSource({ ...deps, marks, catalog: standIn({ hasNode: () => false }) })
  const keeper = createMarkKeeper(deps)
  return {
    marks,
    keep: () => keeper.run(),
    derive: () => deriveAhead({ ...deps, marks }, 64),
    add: (value: string) =>
      addWallet(
        { ...deps, marks },
        { ...{ workspaceId: engine.workspace.id, mode: 'live', family: 'evm', kind: 'xpub' }, value, startIndex: 0 },
      ),
    take: async (id: string, count: number) => {
      const taken: number[] = []
      for (let n = 0; n < count; n += 1)
        taken.push((await source.take({ id, mode: 'live', family: 'evm' }, 'ethereum')).index)
      return taken
    },
  }
}
const xpub = () => HDNodeWallet.fromSeed(randomBytes(32)).derivePath("m/44'/60'/0'").neuter().extendedKey
const redis = () => createRedisMarkPlace(stores.redis)
/** An invoice is what tells the keeper that something was issued. */
const invoice = () => engine.open()

beforeEach(async () => {
  for (const name of [...COPIED, 'wallets', 'audit_log', 'workspaces']) await collection(name).deleteMany({})
  engine = await openEngine(stores)
})

describe.each([
  ['redis', redis],
  ['a folder', () => createFolderMarkPlace(folder)],
] as const)('marks in %s', (_name, place) => {
  // Guarantee: no address is issued twice, however the store came back.
  it('keep a store that went back in time from issuing an index again', async () => {
    const before = process([place()])
    await before.keep()
    const [busy, idle] = [(await before.add(xpub())).wallet.materialId, (await before.add(xpub())).wallet.materialId]
    await before.derive()
    await before.take(busy, 3)
    await invoice()
    await before.keep()
    const putBack = await snapshot()
    const issued = await before.take(busy, 40)
    await invoice()
    await before.derive()
    await before.keep()

    await putBack()
    const after = process([place()])
    // The store is behind: nothing is issued until it continues above the marks.
    expect(await after.marks.isStoreBehind()).toBe(true)
    await expect(after.take(busy, 1)).rejects.toMatchObject({ code: 'NO_WALLET_FOR_ASSET' })
    await after.keep()
    expect(await after.marks.isStoreBehind()).toBe(false)
    // The idle key's addresses are there already; the busy one's are derived and watched first.
    await after.derive()
    const again = [...(await after.take(busy, 40)), ...(await after.take(idle, 1))]
    expect(Math.min(...again.slice(0, 40))).toBeGreaterThan(Math.max(...issued))
    const rows = await engine.deps.wallets.addressesAt(busy, issued)
    expect(rows.map(({ index }) => index)).toEqual(issued.toSorted((a, b) => a - b))
    const audit = await collection('audit_log').find({ action: 'installation.store_went_back' }).toArray()
    expect(audit).toHaveLength(1)
  })

  it('hold one key alone where only that key went back', async () => {
    const on = process([place()])
    await on.keep()
    const [lost, other] = [(await on.add(xpub())).wallet.materialId, (await on.add(xpub())).wallet.materialId]
    await on.derive()
    const former = await collection('key_material').findOne({ _id: lost })
    const issued = await on.take(lost, 20)
    await invoice()
    await on.keep()
    await collection('key_material').replaceOne({ _id: lost }, former as never)

    const after = process([place()])
    await expect(after.take(lost, 1)).rejects.toMatchObject({ code: 'NO_WALLET_FOR_ASSET' })
    expect(await after.take(other, 1)).toEqual([0])
    await after.keep()
    await after.derive()
    const again = await after.take(lost, 20)
    expect(again.filter((index) => issued.includes(index))).toEqual([])
  })

  it('let a key that is added again continue above all that was issued of it', async () => {
    const on = process([place()])
    await on.keep()
    const value = xpub()
    const putBack = await snapshot()
    const { materialId } = (await on.add(value)).wallet
    await on.derive()
    const issued = await on.take(materialId, 50)
    await invoice()
    await on.keep()
    await putBack()
    await collection('wallets').deleteMany({})

    const after = process([place()])
    await after.keep()
    expect((await after.add(value)).wallet.materialId).toBe(materialId)
    await after.derive()
    expect(Math.min(...(await after.take(materialId, 5)))).toBeGreaterThan(Math.max(...issued))
  })
})

it('lets invoice numbers jump, and keeps them where the store did not go back', async () => {
  const on = process([redis()])
  await on.keep()
  await invoice()
  await on.keep()
  const putBack = await snapshot()
  for (let n = 0; n < 5; n += 1) await invoice()
  await on.keep()
  const { id } = engine.workspace
  expect(await process([redis()]).marks.lowestNumber(id, 'test')).toBe(0)
  const last = await engine.deps.invoices.highestNumber(id, 'test')
  await putBack()
  const after = process([redis()])
  expect(await after.marks.lowestNumber(id, 'test')).toBeGreaterThan(last)
  await after.keep()
  expect(await engine.deps.invoices.highestNumber(id, 'test')).toBeGreaterThan(last)
})

it('goes on without a place that answers, and gives it everything when it is back', async () => {
  const first = redis()
  let isAway = false
  const away = <T extends unknown[], R>(run: (...values: T) => Promise<R>) => {
    return (...values: T): Promise<R> => (isAway ? Promise.reject(new Error('away')) : run(...values))
  }
  const failing = { ...first, read: away(first.read), raise: away(first.raise) }
  const on = process([failing])
  await on.keep()
  const { materialId } = (await on.add(xpub())).wallet
  isAway = true
  await on.derive()
  await on.take(materialId, 40)
  await invoice()
  await on.keep()
  isAway = false
  await on.keep()
  const record = await createInstallationLifeRepository(stores.db).read()
  const { marks } = await readMarks([first], record, 'all', markKeys)
  expect(marks.get(ceilingOf(materialId))?.value).toBeGreaterThanOrEqual(64)
  expect(marks.get(BEAT)?.value).toBe(record.beat)
  expect(marks.get(numberOf(engine.workspace.id, 'test'))?.value).toBeGreaterThan(0)
})

it('removes marks that nobody of the installation signed, and never obeys them', async () => {
  const on = process([redis()])
  await on.keep()
  const { materialId } = (await on.add(xpub())).wallet
  await on.derive()
  const record = await createInstallationLifeRepository(stores.db).read()
  const eve = createMarkKeys(new Uint8Array(32).fill(66))
  await writeMarks(
    [redis()],
    record,
    [
      { field: BEAT, value: 9_999 },
      { field: `next:${materialId}`, value: 9_999 },
    ],
    eve,
  )
  expect(await on.take(materialId, 1)).toEqual([0])
  await on.keep()
  const { marks, unsigned } = await readMarks([redis()], record, 'all', markKeys)
  expect(unsigned.size).toBe(0)
  expect(marks.get(BEAT)?.value).toBeLessThan(9_999)
})

it('writes nothing for sandbox keys, and nothing again while nothing is issued', async () => {
  const place = redis()
  let writes = 0
  const raise: MarkPlace['raise'] = (record, texts) => {
    writes += 1
    return place.raise(record, texts)
  }
  const counting = { ...place, raise }
  const on = process([counting])
  await on.keep()
  const record = await createInstallationLifeRepository(stores.db).read()
  const { marks } = await readMarks([place], record, 'all', markKeys)
  expect([...marks.keys()].filter((field) => field.startsWith('ceiling:'))).toEqual([])
  engine.advance(6_000)
  await on.keep()
  const before = writes
  await on.keep()
  expect(writes).toBe(before)
})
