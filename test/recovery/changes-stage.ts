import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type mongoose from 'mongoose'
import { fileTarget } from '#scripts/backup/archive-target.ts'
import { writeState } from '#scripts/backup/restore-backup.ts'
import { takeBackup } from '#scripts/backup/take-backup.ts'
import { type ChangesDeps, continueChain, type TakenChanges, takeChanges } from '#scripts/backup/take-changes.ts'
import { type VerifiedState, verifyState } from '#scripts/backup/verify-following.ts'
import { readChain, timestampOf } from '#shared/db/backup/change-chain.ts'
import { createVerifiedBackups } from '#shared/db/backup/verified-backups.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { createInstallationLifeRepository } from '#shared/db/restore/installation-life-repository.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { dyingDatabase } from '#test/support/dying-database.ts'
import { keyed } from '#test/support/keyed.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import type { TestStores } from '#test/support/stores.ts'
import { differences, stateOf } from './back-up-stage.ts'

/** Where a process that copies changes is killed. */
export const KILLS = [
  'before it writes the moment',
  'after it wrote the moment',
  'before it reads as of the moment',
  'when another process took over',
  'after the file has its name',
] as const
export type Kill = (typeof KILLS)[number]

type Row = ReturnType<typeof keyed> & { _id: string; n: number }

/** A folder into which changes of a store are copied by processes that may be killed, and a store into which they are restored. */
export function changesStage(source: TestStores, copy: TestStores) {
  const folder = makeStoreFolder('paymesh-changes')
  const secret = { kind: 'key', key: new Uint8Array(32).fill(7) } as const
  const secretBox = createSecretBox(new Uint8Array(32).fill(7))
  const deps = (db = source.db): ChangesDeps => ({
    db,
    secretBox,
    clock: source.runtime.clock,
    installationLife: createInstallationLifeRepository(db),
    verifiedBackups: createVerifiedBackups(db),
  })
  const order = (at = folder, copied = '') => ({
    ...{ folder: at, copied, secret, version: 'test', signal: new AbortController().signal },
    require: async () => undefined,
  })
  const fatal = (): never => {
    throw new Error('killed')
  }

  /** A process that starts, copies changes once, and is killed at a place. */
  const copyOnce = async (kill: Kill | null = null, at = folder): Promise<TakenChanges> => {
    const here = deps()
    const position = await continueChain(here, order(at))
    if (kill === null) return await takeChanges(here, order(at), position)
    const write = KILLS.indexOf(kill)
    const dying =
      write < 3 ? dyingDatabase(source.db, write === 2 ? 2 : 1, write === 0 ? 'before' : 'after') : source.db
    const verifiedBackups = {
      ...here.verifiedBackups,
      recordChanges: kill === 'after the file has its name' ? fatal : here.verifiedBackups.recordChanges,
    }
    const require = async (): Promise<void> => (kill === 'when another process took over' ? fatal() : undefined)
    return await takeChanges({ ...here, db: dying, verifiedBackups }, { ...order(at), require }, position)
  }

  const archive = async (name: string): Promise<string> => {
    const chain = await readChain(source.db)
    const { life } = await createInstallationLifeRepository(source.db).read()
    await takeBackup(source.db, {
      ...{ target: fileTarget(join(folder, name)), id: name, secret, version: 'test', onProgress: () => undefined },
      about: chain === null ? {} : { life, chain: chain.link.chain, number: chain.link.number },
    })
    return join(folder, name)
  }

  return {
    folder,
    secret,
    secretBox,
    deps,
    order,
    copyOnce,
    archive,
    verify: (file: string, until: number | null = null) => verifyState({ file, secret, until }, secretBox),
    /** Restores into the other store and names the documents that are not as they were in the source at that moment. */
    faultsOf: async (
      file: string,
      until: number | null = null,
      mistake = (files: readonly string[]) => files,
    ): Promise<readonly string[]> => {
      const verified: VerifiedState = await verifyState({ file, secret, until }, secretBox)
      await copy.db.connection.dropDatabase()
      await writeState(copy.db, { changes: mistake(verified.changes) }, { file, secret, onProgress: () => undefined })
      const moment = timestampOf(verified.clusterTime)
      return differences(await stateOf(source.db, moment), await stateOf(copy.db, null))
    },
    names: () => readdirSync(folder).filter((name) => name.endsWith('.changes')),
  }
}

/** Writes at random to a few documents, so that each of them is changed, removed and made again within one copy and over several. */
export async function writeAtRandom(db: Database, random: () => number, many: number): Promise<void> {
  const payments = db.connection.collection<Row>('payments')
  const products = db.connection.collection<{ _id: string; n: number; sku: null }>('products')
  const pick = (most: number): number => Math.floor(random() * most)
  for (let nth = 0; nth < many; nth += 1) {
    const _id = `p${pick(40)}`
    const row = { ...keyed(`key-${pick(1_000_000_000)}`), n: pick(1_000) }
    const kind = pick(5)
    if (kind === 0) await payments.deleteOne({ _id })
    else if (kind === 1) await swapKeys(payments, _id, `p${pick(40)}`)
    else if (kind === 2)
      await together(db, async (session) => {
        await payments.updateOne({ _id }, { $set: row }, { upsert: true, session })
        const options = { upsert: true, session, bypassDocumentValidation: true }
        await products.updateOne({ _id: `r${pick(10)}` }, { $set: { n: row.n, sku: null } }, options)
      })
    else await payments.updateOne({ _id }, { $set: row }, { upsert: true })
  }
}

/** Two documents exchange their unique keys: whichever image is written first meets the other's. */
async function swapKeys(payments: mongoose.mongo.Collection<Row>, one: string, other: string): Promise<void> {
  const [first, second] = [await payments.findOne({ _id: one }), await payments.findOne({ _id: other })]
  if (first === null || second === null || one === other) return
  await payments.updateOne({ _id: one }, { $set: keyed(`on its way ${one}`) })
  await payments.updateOne({ _id: other }, { $set: keyed(first.key) })
  await payments.updateOne({ _id: one }, { $set: keyed(second.key) })
}

async function together(db: Database, write: (session: mongoose.mongo.ClientSession) => Promise<void>): Promise<void> {
  await db.connection.getClient().withSession((session) => session.withTransaction(() => write(session)))
}
