import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { PROCESSES } from '#shared/db/installation/process-model.ts'
import { fillKeyDigests } from '#shared/db/payments/fill-key-digests.ts'
import { hasTextIndex } from '#shared/db/payments/payment-keys.ts'
import { FORMER_KEY_INDEX, PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { DIGESTS_OF_PAYMENT_KEYS } from './migrations/0003-digests-of-payment-keys.ts'
import { raiseReadable } from './schema-version.ts'

/** The first data version whose code finds payments by digest. */
const DIGEST_SCHEMA = DIGESTS_OF_PAYMENT_KEYS.id
/** How long going back to the version before stays possible, unless the operator waives it. */
const WAY_BACK_MS = 24 * 3_600_000
/** Far above the 15 s between two heartbeats of a process. */
const ALIVE_MS = 120_000
const REPORT_EVERY = 100_000
const WRITE_CONCERN = { w: 'majority', wtimeout: 60_000 } as const
/** IndexNotFound and NamespaceNotFound. */
const GONE: readonly unknown[] = [27, 26]

interface DropOptions {
  /** Do not wait a day for a possible return to the version before. A running process of it is waited for in any case. */
  readonly finish: boolean
  readonly onProgress: (line: string) => void
}

/**
 * Drops the unique index of the payments' key texts, once the unique index of the digests alone can guard them. The order is the guarantee: processes
 * of the version before can no longer start; the store refuses every payment without a digest; all payments are read, filled and
 * compared; only then the index is dropped. Killed anywhere, it continues when it is run again. Returns whether the text has no index now.
 */
export async function dropFormerKeyIndex(db: Database, { finish, onProgress }: DropOptions): Promise<boolean> {
  const [isIndexed, isRequired] = await Promise.all([hasTextIndex(db), requiresDigest(db)])
  if (!isIndexed && isRequired) {
    await raiseReadable(db, DIGEST_SCHEMA)
    return true
  }
  const wait = (why: string): boolean => {
    onProgress(`payments: the index ${FORMER_KEY_INDEX} stays: ${why}`)
    return false
  }
  // Without that index, the store holds nothing that a process of the version before could work on: it is new, or is being restored.
  if (isIndexed && !isRequired) {
    const reason = (finish ? null : await reasonToKeepWayBack(db)) ?? (await reasonOfProcesses(db))
    if (reason !== null) return wait(reason)
  }
  await raiseReadable(db, DIGEST_SCHEMA)
  if (isIndexed && !isRequired) {
    // One that had compared versions just before.
    const reason = await reasonOfProcesses(db)
    if (reason !== null) return wait(reason)
  }
  if (!isRequired) {
    const refusal = await requireDigest(db)
    if (refusal !== null && isIndexed) return wait(refusal)
  }
  const about = await db.collection(PAYMENTS).estimatedDocumentCount()
  await fillKeyDigests(db, '', async (_lastId, read) => {
    if (read % REPORT_EVERY === 0) onProgress(`payments: compared ${read} of about ${about} keys with their digests`)
  })
  if (isIndexed) {
    await dropIndex(db)
    onProgress(`payments: dropped the index ${FORMER_KEY_INDEX}; versions before this one can no longer start`)
  }
  return true
}

/**
 * What is left of migration 3 in a store that still has the index of the key texts: `dueAt`, in milliseconds since the epoch, is when `migrate` drops
 * it without `--finish`. Null once it is gone, and before the migration.
 */
export async function formerKeyIndex(
  db: Database,
): Promise<{ readonly dueAt: number; readonly isDue: boolean } | null> {
  if (!(await hasTextIndex(db))) return null
  const done = await db.collection(INSTALLATION).findOne({ _id: `migration:${DIGEST_SCHEMA}` })
  if (done === null) return null
  const dueAt = done.changedAt.getTime() + WAY_BACK_MS
  return { dueAt, isDue: (await storeTime(db)) >= dueAt }
}

async function reasonToKeepWayBack(db: Database): Promise<string | null> {
  const done = await db.collection(INSTALLATION).findOne({ _id: `migration:${DIGEST_SCHEMA}` })
  const age = done === null ? 0 : (await storeTime(db)) - done.changedAt.getTime()
  if (age >= WAY_BACK_MS) return null
  return 'the version before may be started again for a day. Run paymesh migrate once more after that, or with --finish'
}

async function reasonOfProcesses(db: Database): Promise<string | null> {
  const seenAt = { $gt: toDate((await storeTime(db)) - ALIVE_MS) }
  const former = await db
    .collection(PROCESSES)
    .find({ seenAt, $or: [{ schema: { $exists: false } }, { schema: { $lt: DIGEST_SCHEMA } }] })
    .toArray()
  if (former.length === 0) return null
  const names = [...new Set(former.map(({ name }) => name))].sort().join(', ')
  return `processes of the version before were alive within two minutes (${names}). Replace them and run paymesh migrate again`
}

async function storeTime(db: Database): Promise<number> {
  const { localTime } = (await native(db).command({ hello: 1 })) as { localTime: Date }
  return localTime.getTime()
}

const native = (db: Database) => db.connection.getClient().db(db.name)

/** Whether the store refuses payments without a digest. */
async function requiresDigest(db: Database): Promise<boolean> {
  const found = await native(db).listCollections({ name: PAYMENTS.name }).toArray()
  const stored = found.find(({ name }) => name === PAYMENTS.name) as { options?: { validator?: object } } | undefined
  return JSON.stringify(stored?.options?.validator) === JSON.stringify(PAYMENTS.validator)
}

/**
 * Makes the store refuse new payments without a digest, whoever writes them. `moderate`: those that have none yet can still be confirmed and
 * applied until they are filled. Returns why it does not, for stores that cannot.
 */
async function requireDigest(db: Database): Promise<string | null> {
  try {
    await native(db).command({
      ...{
        collMod: PAYMENTS.name,
        validator: PAYMENTS.validator,
        validationLevel: 'moderate',
        validationAction: 'error',
      },
      writeConcern: WRITE_CONCERN,
    })
    return null
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    return `the store does not let this user set a validator on the collection (collMod: ${error.message})`
  }
}

async function dropIndex(db: Database): Promise<void> {
  try {
    await native(db).command({ dropIndexes: PAYMENTS.name, index: FORMER_KEY_INDEX, writeConcern: WRITE_CONCERN })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && GONE.includes(error.code))) throw error
  }
}
