import mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { writeFact } from '#shared/db/installation/facts.ts'

/** Name of the fact that a back-up writes to obtain its last moment; its content means nothing. */
export const BACKUP_MARK = 'backup_mark'

/** A moment of the store. */
export interface BackupMoment {
  /** Cluster time: writes before it have lower ones, writes after it higher ones. */
  readonly time: mongoose.mongo.Timestamp
  /** Time of the store's clock, never later than `time`. */
  readonly at: Date
}

/** A moment not later than any read that follows. */
export function startMoment(db: Database): Promise<BackupMoment> {
  return momentOf(db, async (native, session) => {
    await native.command({ ping: 1 }, { session })
  })
}

/**
 * A moment later than every read and write that ended before: the moment of a write that a majority acknowledged. The write also
 * ensures that the change stream passes this moment, even when nothing else is written.
 */
export function endMoment(db: Database): Promise<BackupMoment> {
  return momentOf(db, async (_, session) => {
    await writeFact(db, BACKUP_MARK, new mongoose.mongo.ObjectId().toHexString(), { session })
  })
}

/** A moment of the store, right after `act`, which uses the session for all that it does. */
export async function momentOf(
  db: Database,
  act: (native: mongoose.mongo.Db, session: mongoose.mongo.ClientSession) => Promise<void>,
): Promise<BackupMoment> {
  const native = db.connection.getClient().db(db.name)
  const session = db.connection.getClient().startSession({ causalConsistency: true })
  try {
    const { localTime } = await native.command({ hello: 1 }, { session })
    await act(native, session)
    const time = session.operationTime
    if (time === undefined) throw new Error('a back-up needs a replica set: the store reports no cluster time')
    return { time, at: localTime as Date }
  } finally {
    await session.endSession()
  }
}
