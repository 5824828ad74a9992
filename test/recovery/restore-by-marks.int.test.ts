import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { HDNodeWallet } from 'ethers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fileTarget } from '#scripts/backup/archive-target.ts'
import { mostWithin } from '#scripts/backup/estimate-issued.ts'
import { NothingKnownOfIssued, type RestoreOptions, restoreBackup } from '#scripts/backup/restore-backup.ts'
import { takeBackup } from '#scripts/backup/take-backup.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { createInstallationLifeRepository } from '#shared/db/restore/installation-life-repository.ts'
import { storeMarksCopy } from '#shared/db/restore/marks-copy.ts'
import { ADDRESSES } from '#shared/db/wallets/wallet-models.ts'
import { AUDIT, ceilingOf } from '#shared/domain/marks/mark-fields.ts'
import type { MarkPlace } from '#shared/ports/marks.ts'
import { createFolderMarkPlace } from '#shared/runtime/process/folder-mark-place.ts'
import type { ArchiveSecret } from '#shared/runtime/secrets/archive-cipher.ts'
import { createAuditKeys, createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { createMarkKeeper } from '#shared/usecases/marks/keep-marks.ts'
import { writeMarks } from '#shared/usecases/marks/mark-records.ts'
import { markText } from '#shared/usecases/marks/mark-text.ts'
import { createMarks } from '#shared/usecases/marks/marks.ts'
import { createAddressSource } from '#shared/usecases/quotes/addresses.ts'
import { deriveAhead } from '#shared/usecases/wallets/address-headroom.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { standIn } from '#test/support/stand-in.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import { type TestStores, useStores } from '#test/support/stores.ts'

/** A restore starts where the marks say, and refuses where nothing says it. */
const first = useStores()
const second = useStores({ migrated: false })
const third = useStores({ migrated: false })
const fourth = useStores({ migrated: false })
const fifth = useStores({ migrated: false })
const sixth = useStores({ migrated: false })
const folder = makeStoreFolder('paymesh-by-marks')
const file = join(folder, 'paymesh.backup')
const secret: ArchiveSecret = { kind: 'key', key: randomBytes(32) }
const markKeys = createMarkKeys(new Uint8Array(32).fill(7))
const xpub = () => HDNodeWallet.fromSeed(randomBytes(32)).derivePath("m/44'/60'/0'").neuter().extendedKey
const place = () => createFolderMarkPlace(join(folder, 'marks'))
let engine: Engine
beforeAll(async () => {
  engine = await openEngine(first)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What every archive of the command line holds: it says nothing of what was issued since. */
async function storeCopy(): Promise<void> {
  const record = await createInstallationLifeRepository(first.db).read()
  const mark = { field: ceilingOf('live:evm:of-the-copy'), value: 1 }
  await storeMarksCopy(first.db, record.life, { [mark.field]: markText(record, mark, markKeys) })
}

/** A process on a database, with its own memory. */
function process(stores: TestStores, places: readonly MarkPlace[]) {
  const deps = {
    ...engine.deps,
    ...engine,
    ...createRepositories(stores.db, stores.runtime),
    markPlaces: places,
    markKeys,
  }
  const marks = createMarks(deps)
  const source = createAddressSource({ ...deps, marks, catalog: standIn({ hasNode: () => false }) })
  const keeper = createMarkKeeper(deps)
  return {
    deps,
    keep: () => keeper.run(),
    derive: () => deriveAhead({ ...deps, marks }, 64),
    add: async (value: string) => {
      const about = { workspaceId: engine.workspace.id, mode: 'live', family: 'evm', kind: 'xpub' } as const
      return (await addWallet({ ...deps, marks }, { ...about, value, startIndex: 0 })).wallet.materialId
    },
    /** When addresses that are listed now are offered; null = at once. */
    listed: async (kind: 'pool' | 'address', value: string) => {
      const about = { workspaceId: engine.workspace.id, mode: 'live', family: 'evm', kind } as const
      const { materialId } = (await addWallet({ ...deps, marks }, { ...about, value })).wallet
      const rows = await stores.db.collection(ADDRESSES).find({ heldBy: materialId, address: value }).toArray()
      return rows.map((row) => row.offeredFrom?.[materialId] ?? null)
    },
    take: async (id: string, count: number) => {
      const taken: number[] = []
      const material = { id, mode: 'live', family: 'evm' } as const
      for (let n = 0; n < count; n += 1) taken.push((await source.take(material, 'ethereum')).index)
      return taken
    },
  }
}
const restoreInto = (stores: TestStores, change: Partial<RestoreOptions>, places: readonly MarkPlace[]) =>
  restoreBackup(
    {
      ...stores.runtime,
      ...{ db: stores.db, wallets: createRepositories(stores.db, stores.runtime).wallets },
      ...{
        addressBook: engine.addressBook,
        secretBox: engine.secretBox,
        markPlaces: places,
        markKeys,
        auditKeys: createAuditKeys(new Uint8Array(32).fill(7)),
      },
    },
    {
      ...{ file, secret, actor: 'cli:test', skip: null, quarantineMs: 0, until: null, acceptUnreadable: false },
      onProgress: () => undefined,
      ...change,
    },
  )

// Guarantee: after a restore no customer gets the address of another one, whatever the load was and whichever wallet came since.
it('starts each key above what the marks name, and another life whose marks begin there', async () => {
  const on = process(first, [place()])
  await on.keep()
  const known = await on.add(xpub())
  await on.derive()
  await on.take(known, 5)
  await engine.open()
  await on.keep()
  await storeCopy()
  await takeBackup(first.db, {
    ...{ target: fileTarget(file), id: 'by-marks', secret, version: 'test' },
    onProgress: () => undefined,
  })
  const issued: number[] = []
  for (let round = 0; round < 6; round += 1) {
    issued.push(...(await on.take(known, 50)))
    await on.derive()
  }
  const lateKey = xpub()
  const late = await on.add(lateKey)
  await on.derive()
  const issuedLate = await on.take(late, 40)
  const numbers: number[] = []
  for (let n = 0; n < 5; n += 1) numbers.push((await engine.open()).terms.number)
  await on.keep()

  const restored = await restoreInto(second, {}, [place()])
  expect(restored.marksWrittenAt).not.toBeNull()
  const after = process(second, [place()])
  await after.keep()
  await after.derive()
  const again = await after.take(known, 50)
  expect(Math.min(...again)).toBeGreaterThan(Math.max(...issued))
  expect(await after.add(lateKey)).toBe(late)
  await after.derive()
  expect(Math.min(...(await after.take(late, 5)))).toBeGreaterThan(Math.max(...issuedLate))
  expect(await after.deps.invoices.highestNumber(engine.workspace.id, 'test')).toBeGreaterThan(Math.max(...numbers))
  // What payers of the lost minutes may still pay is watched.
  const rows = await after.deps.wallets.addressesAt(known, issued)
  expect(rows).toHaveLength(issued.length)

  // The former life's marks are as they were: a rehearsal must not hold the installation that is rehearsed.
  const still = process(first, [place()])
  await still.keep()
  const next = await still.take(known, 1)
  expect(next[0]).toBeLessThan(Math.max(...again))
})

it('writes nothing without marks until a person says how much to skip, and says how much that is at least', async () => {
  const empty = createFolderMarkPlace(mkdtempSync(join(folder, 'empty-')))
  const refused = await restoreInto(third, {}, [empty]).then(
    () => null,
    (error: unknown) => error,
  )
  expect(refused).toBeInstanceOf(NothingKnownOfIssued)
  expect(String(refused)).toMatch(/No record was found[\s\S]*--skip[\s\S]*invoice numbers of [\s\S]* skip 2/)
  expect(await third.db.connection.listCollections()).toEqual([])

  const gone: MarkPlace = { ...empty, name: 'redis', read: refuse, lives: refuse }
  await expect(restoreInto(third, {}, [place(), gone])).rejects.toThrow('redis did not answer')

  // One that names its lives and does not say what was issued in them.
  const half: MarkPlace = { ...place(), name: 'redis', read: refuse }
  await expect(restoreInto(third, {}, [place(), half])).rejects.toThrow('redis did not answer')

  const skipped = await restoreInto(third, { skip: 200 }, [empty])
  expect(skipped.marksWrittenAt).toBeNull()
  const on = process(third, [empty])
  const [material] = (await on.deps.wallets.listMaterials()).filter(({ mode }) => mode === 'live')
  expect(material?.nextIndex).toBeGreaterThanOrEqual(200)
})

it('lets a key that the archive lacks continue, although the place was read-only while the archive was restored', async () => {
  const on = process(first, [place()])
  const value = xpub()
  const late = await on.add(value)
  await on.derive()
  const issued = await on.take(late, 20)
  await engine.open()
  await on.keep()
  await restoreInto(fourth, {}, [{ ...place(), raise: refuse }])
  const after = process(fourth, [place()])
  await after.keep()
  expect(await after.add(value)).toBe(late)
  await after.derive()
  expect(Math.min(...(await after.take(late, 5)))).toBeGreaterThan(Math.max(...issued))
})

// Guarantee: a wallet that was added after the archive, and is added again, gives no customer an address that another one may still pay.
it('treats what is entered again as used: a key without marks, and addresses where acts were lost', async () => {
  const empty = createFolderMarkPlace(mkdtempSync(join(folder, 'empty-')))
  await restoreInto(fifth, { skip: 200, quarantineMs: null }, [empty])
  const unknown = process(fifth, [empty])
  const key = await unknown.add(xpub())
  await unknown.derive()
  expect(Math.min(...(await unknown.take(key, 3)))).toBeGreaterThanOrEqual(200)
  const address = () => HDNodeWallet.fromSeed(randomBytes(32)).address
  const rest = 38 * 86_400_000
  for (const kind of ['pool', 'address'] as const) {
    const [from] = await unknown.listed(kind, address())
    expect(from).toBeGreaterThan(first.runtime.clock.now() + rest - 3_600_000)
  }

  // The marks of the second restore named no act that its archive lacked.
  expect(await process(second, [place()]).listed('pool', address())).toEqual([null])
  const life = await createInstallationLifeRepository(first.db).read()
  await writeMarks([place()], life, [{ field: AUDIT, value: 99 }], markKeys)
  await restoreInto(sixth, { quarantineMs: null }, [place()])
  const known = process(sixth, [place()])
  await known.keep()
  const [from] = await known.listed('pool', address())
  expect(from).toBeGreaterThan(first.runtime.clock.now() + rest - 3_600_000)
  const fresh = await known.add(xpub())
  await known.derive()
  expect(await known.take(fresh, 1)).toEqual([0])
})

const refuse = () => Promise.reject(new Error('connection refused'))

it('estimates the most that was issued in any stretch', () => {
  expect(mostWithin([], 10)).toBe(0)
  expect(mostWithin([0, 100, 101, 105, 110, 300], 10)).toBe(4)
  expect(mostWithin([5, 1, 3], 0)).toBe(1)
})
