import { createHash, type Hash } from 'node:crypto'
import type mongoose from 'mongoose'
import { classOf } from '#shared/db/connection/collection-class.ts'
import { MODELS } from '#shared/db/schema/models.ts'
import type { ArchiveBatch, ArchiveContents } from './archive-batch.ts'
import { type ArchiveControl, type ArchiveRecord, documentOf, readRecords } from './archive-records.ts'

type Control<T extends ArchiveControl['t']> = Extract<ArchiveControl, { t: T }>

interface Sum {
  readonly hash: Hash
  documents: number
  gone: number
}

/**
 * Walks through the records of an archive and checks all its declarations: order, names, counts, hashes, its end, and that each
 * document is valid. `onBatch` receives the documents in order. Throws at the first fault.
 */
export async function walkArchive(
  source: AsyncIterable<Uint8Array>,
  onBatch: (batch: ArchiveBatch) => Promise<void> | void,
): Promise<ArchiveContents> {
  const records = readRecords(source)
  const first = await records.next()
  if (first.done === true || first.value.kind !== 'control') throw new Error('the archive has no beginning')
  const { control } = first.value
  if (control.t !== 'start') throw new Error('the archive has no beginning')
  const sums = new Map<string, Sum>()
  let lastPass = 0
  for await (const record of records) {
    if (record.kind !== 'control') throw new Error('the archive holds a document of no batch')
    const { control: next } = record
    if (next.t === 'finish') {
      checkSums(next, sums)
      if ((await records.next()).done !== true) throw new Error('the archive continues after its end')
      return contentsOf(control, next)
    }
    if (next.t !== 'batch' || next.pass < lastPass) throw new Error('the archive holds a record out of its place')
    lastPass = next.pass
    requireKnown(next.name)
    const sum = sums.get(next.name) ?? { hash: createHash('sha256'), documents: 0, gone: 0 }
    sums.set(next.name, sum)
    await onBatch(await readBatch(next, records, sum))
  }
  throw new Error('the archive has no end')
}

/** Throws for a collection that this version does not back up. */
export function requireKnown(name: string): void {
  if (MODELS.some((model) => model.name === name) && classOf(name).backup === 'kept') return
  throw new Error(
    `the archive holds collection ${name}, which this version does not know: use the version that made it`,
  )
}

async function readBatch(
  { name, pass, documents, gone }: Control<'batch'>,
  records: AsyncGenerator<ArchiveRecord>,
  sum: Sum,
): Promise<ArchiveBatch> {
  const take = async (kind: 'document' | 'gone', count: number): Promise<readonly mongoose.mongo.Document[]> => {
    const taken: mongoose.mongo.Document[] = []
    while (taken.length < count) {
      const { value, done } = await records.next()
      if (done === true || value.kind !== kind) throw new Error(`a batch of ${name} is not complete in the archive`)
      sum.hash.update(value.bytes)
      taken.push(documentOf(value.bytes))
    }
    return taken
  }
  const held = await take('document', documents)
  const ids = (await take('gone', gone)).map(({ _id }) => _id)
  sum.documents += documents
  sum.gone += gone
  return { name, pass, documents: held, gone: ids }
}

function checkSums({ collections }: Control<'finish'>, sums: ReadonlyMap<string, Sum>): void {
  for (const [name, declared] of Object.entries(collections)) {
    requireKnown(name)
    const sum = sums.get(name) ?? { hash: createHash('sha256'), documents: 0, gone: 0 }
    const isSame = sum.documents === declared.documents && sum.gone === declared.gone
    if (!isSame || sum.hash.digest('hex') !== declared.sha256)
      throw new Error(`collection ${name} does not match its count or hash in the archive`)
  }
  for (const name of sums.keys()) {
    if (collections[name] === undefined) throw new Error(`the archive does not declare collection ${name} at its end`)
  }
}

function contentsOf({ schemaVersion, backupId }: Control<'start'>, finish: Control<'finish'>): ArchiveContents {
  const { takenAt, clusterTime, collections } = finish
  const entries = Object.entries(collections)
  return {
    takenAt,
    clusterTime,
    schemaVersion,
    backupId,
    counts: Object.fromEntries(entries.map(([name, { stored }]) => [name, stored])),
    documents: entries.reduce((sum, [, { documents }]) => sum + documents, 0),
  }
}
