import mongoose from 'mongoose'
import { type BackupSteps, type BackupTotals, readBackup, STEPS } from '#shared/db/backup/backup-source.ts'
import { readRaw } from '#shared/db/backup/read-at.ts'
import { type WriteBatch, writeArchive } from '#shared/db/backup/restore-archive.ts'
import { classOf } from '#shared/db/connection/collection-class.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { MODELS } from '#shared/db/schema/models.ts'

/** Facts that a restore does not bring back. */
const LEFT_OUT = [
  ...['restore', 'reconciliation', 'rollups', 'life', 'marks'],
  ...['backup_mark', 'verified_backup', 'backup_attempt', 'backup_chain', 'backup_changes'],
]

/** The state of a database: each document by collection and id, as hexadecimal BSON. */
export type StoreState = ReadonlyMap<string, string>

/** Every kept document, exactly as of a cluster time, or as of now. */
export async function stateOf(db: Database, at: mongoose.mongo.Timestamp | null): Promise<StoreState> {
  const state = new Map<string, string>()
  const moment = at === null ? { level: 'majority' } : { level: 'snapshot', atClusterTime: at }
  for (const { name } of MODELS) {
    if (classOf(name).backup !== 'kept') continue
    for await (const bytes of readRaw(db, { find: name, filter: {} }, moment as never)) {
      const id = String(mongoose.mongo.BSON.deserialize(bytes)['_id'])
      if (name === 'installation' && LEFT_OUT.includes(id)) continue
      state.set(`${name} ${id}`, bytes.toString('hex'))
    }
  }
  return state
}

/** A back-up in memory, and the moment of which it is. */
export interface HeldBackup {
  readonly records: readonly Buffer[]
  readonly moment: mongoose.mongo.Timestamp
  readonly totals: BackupTotals
}

/** Options of `backUp`. */
export interface BackUpOptions {
  /** Steps that replace the real ones. */
  readonly steps?: Partial<BackupSteps>
  /** Runs after each piece of the archive, while nothing is asked of the reading. */
  readonly between?: (piece: Buffer, nth: number) => Promise<void>
  readonly changedMax?: number
}

/** Backs a database up into memory, with the product's steps except for those that are named. */
export async function backUp(
  db: Database,
  { steps = {}, between = async () => undefined, changedMax = 200_000 }: BackUpOptions = {},
): Promise<HeldBackup> {
  let moment: mongoose.mongo.Timestamp | undefined
  let totals: BackupTotals | undefined
  const used: BackupSteps = { ...STEPS, ...steps }
  const noting: BackupSteps = {
    ...used,
    endMoment: async (from) => {
      const end = await used.endMoment(from)
      moment = end.time
      return end
    },
  }
  const options = {
    ...{ id: 'held', changedMax, onProgress: () => undefined },
    onEnd: (ended: BackupTotals) => {
      totals = ended
    },
  }
  const records: Buffer[] = []
  for await (const piece of readBackup(db, options, noting)) {
    records.push(piece)
    await between(piece, records.length)
  }
  if (moment === undefined || totals === undefined) throw new Error('the back-up did not end')
  return { records, moment, totals }
}

/** Writes a held back-up into a database without indexes. */
export async function writeBack(db: Database, { records }: HeldBackup, write?: WriteBatch): Promise<void> {
  async function* pieces(): AsyncGenerator<Buffer> {
    yield* records
  }
  await writeArchive(db, pieces(), () => undefined, write)
}

/** Documents that two states do not share, at most ten of them; empty when they are equal. */
export function differences(wanted: StoreState, found: StoreState): readonly string[] {
  const missing = [...wanted]
    .filter(([key, value]) => found.get(key) !== value)
    .map(([key]) => `wrong or missing: ${key}`)
  const extra = [...found.keys()].filter((key) => !wanted.has(key)).map((key) => `should not exist: ${key}`)
  return [...missing, ...extra].slice(0, 10)
}
