import mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { persist, readRaw } from './read-at.ts'

const SNAPSHOT_TOO_OLD = 239

/**
 * Exact number of documents of each collection at a moment, from the `_id` index (about a million a second). Null from the collection on at which
 * the store no longer keeps that moment.
 */
export async function countAt(
  db: Database,
  names: readonly string[],
  moment: mongoose.mongo.Timestamp,
): Promise<Readonly<Record<string, number | null>>> {
  const counts: Record<string, number | null> = {}
  let isTooOld = false
  for (const name of names) {
    counts[name] = null
    if (isTooOld) continue
    try {
      counts[name] = await countOne(db, name, moment)
    } catch (error) {
      if (!(error instanceof mongoose.mongo.MongoServerError) || error.code !== SNAPSHOT_TOO_OLD) throw error
      isTooOld = true
    }
  }
  return counts
}

async function countOne(db: Database, name: string, moment: mongoose.mongo.Timestamp): Promise<number> {
  const command = {
    aggregate: name,
    pipeline: [{ $group: { _id: null, n: { $sum: 1 } } }],
    hint: { _id: 1 },
    cursor: {},
  }
  const count = () => readRaw(db, command, { level: 'snapshot', atClusterTime: moment })
  for await (const row of persist(count)) return Number(mongoose.mongo.BSON.deserialize(row)['n'])
  return 0
}
