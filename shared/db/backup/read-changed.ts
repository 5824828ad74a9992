import mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import type { ChangedIds } from './change-collector.ts'
import { persist, type ReadMoment, readRaw } from './read-at.ts'

/** Ids of one query; with documents of some kilobytes, a batch of less than a megabyte. */
const IDS = 200

/** Changed documents of a collection: those that exist, as raw BSON, and the ids of those that do not. */
export interface ChangedBatch {
  readonly name: string
  readonly documents: readonly Buffer[]
  readonly gone: readonly string[]
}

/** Reads documents by id, each once, as of `moment`. */
export async function* readChanged(
  db: Database,
  changed: ChangedIds,
  moment: ReadMoment,
): AsyncGenerator<ChangedBatch> {
  for (const [name, all] of changed) {
    const ids = [...all]
    for (let from = 0; from < ids.length; from += IDS) {
      yield* persist(() => readIds(db, name, ids.slice(from, from + IDS), moment))
    }
  }
}

async function* readIds(
  db: Database,
  name: string,
  ids: readonly string[],
  moment: ReadMoment,
): AsyncGenerator<ChangedBatch> {
  const documents: Buffer[] = []
  const gone = new Set(ids)
  const command = { find: name, filter: { _id: { $in: [...ids] } }, hint: { _id: 1 }, batchSize: IDS }
  for await (const document of readRaw(db, command, moment)) {
    documents.push(document)
    gone.delete(idOf(document))
  }
  yield { name, documents, gone: [...gone] }
}

function idOf(document: Buffer): string {
  const { _id } = mongoose.mongo.BSON.deserialize(document)
  if (typeof _id !== 'string') throw new Error('the _id of a document is not a text')
  return _id
}
