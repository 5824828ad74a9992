import { beforeEach, expect, it } from 'vitest'
import { prepareCollections } from '#shared/db/backup/restore-archive.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { isDigestOf } from '#shared/db/payments/payment-key-digest.ts'
import { hasTextIndex } from '#shared/db/payments/payment-keys.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { migrate, verifyIndexes } from '#shared/db/schema/migrate.ts'
import { schemaVersion, verifySchemaVersion } from '#shared/db/schema/schema-version.ts'
import { sampleObservation } from '#test/support/db-samples.ts'
import { becomeFormer, recordAsFormer } from '#test/support/former-payments.ts'
import { useStores } from '#test/support/stores.ts'
import { backUp, type HeldBackup, writeBack } from './back-up-stage.ts'

const source = useStores({ migrated: false })
const copy = useStores({ migrated: false })
const native = () => copy.db.connection.getClient().db(copy.db.name)
const seen = (nth: number) => sampleObservation(`test:ethereum:0x${nth}:log:0`, { txHash: `0x${nth}` })
const ours = (db: typeof copy.db) => createPaymentRepository({ ...db }, copy.runtime.random)

/** Three payments by the version before; of the second archive one by this version, and one of before that has no digest yet. */
const ARCHIVES: Readonly<Record<string, { readonly rows: number; take(): Promise<HeldBackup> }>> = {
  'made by the version before': { rows: 3, take: async () => await backUp(source.db) },
  'made while processes of both versions ran': {
    rows: 5,
    take: async () => {
      await migrate({ ...source.db })
      await ours(source.db).recordObservations([seen(3)], 1, 1)
      await recordAsFormer(source.db, seen(4), 1)
      return await backUp(source.db)
    },
  },
}

beforeEach(async () => {
  await source.db.connection.dropDatabase()
  await copy.db.connection.dropDatabase()
  await migrate({ ...source.db })
  await becomeFormer(source.db)
  for (const nth of [0, 1, 2]) await recordAsFormer(source.db, seen(nth), 1)
})

// Guards money: an archive of any release is restored so that a scan from before it credits nothing a second time.
it.each(
  Object.keys(ARCHIVES).flatMap((name) => [
    [name, 'a new database'] as const,
    [name, 'the empty collections of this version'] as const,
  ]),
)('an archive %s is restored into %s with a digest of every key', async (name, into) => {
  const archive = ARCHIVES[name]
  if (archive === undefined) throw new Error(`there is no archive ${name}`)
  const held = await archive.take()
  if (into !== 'a new database') {
    await migrate({ ...copy.db })
    await copy.db.collection(INSTALLATION).deleteMany({})
  }
  await prepareCollections(copy.db)
  await writeBack(copy.db, held)
  await migrate({ ...copy.db })
  await verifyIndexes(copy.db)
  expect(await hasTextIndex(copy.db)).toBe(false)
  const stored = await copy.db.collection(PAYMENTS).find().toArray()
  expect(stored).toHaveLength(archive.rows)
  for (const { key, keyDigest } of stored) expect(keyDigest && isDigestOf(keyDigest, key)).toBe(true)
  const again = Array.from({ length: archive.rows }, (_, nth) => seen(nth))
  expect(await ours(copy.db).recordObservations(again, 1, 9)).toEqual([])
  await expect(recordAsFormer(copy.db, seen(9), 1)).rejects.toMatchObject({ code: 121 })
  await expect(verifySchemaVersion(copy.db, 2)).rejects.toThrow('which this version cannot work on')
  expect(await schemaVersion(copy.db)).toBeGreaterThanOrEqual(3)
  expect(JSON.stringify(await native().listCollections({ name: 'payments' }).toArray())).toContain('zstd')
})
