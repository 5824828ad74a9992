import { createHash, type Hash } from 'node:crypto'
import type mongoose from 'mongoose'
import type { ArchiveBatch, ArchiveContents } from './archive-batch.ts'
import { type ArchiveControl, type ArchiveRecord, documentOf } from './archive-records.ts'

/** Documents of one batch. */
const BATCH = 500

type Control<T extends ArchiveControl['t']> = Extract<ArchiveControl, { t: T }>

interface Open {
  readonly name: string
  readonly hash: Hash
  count: number
  held: mongoose.mongo.Document[]
}

/** Walks through an archive of the first format, which was read at one snapshot: collection after collection, each document once. */
export async function readFirstFormat(
  begin: Control<'begin'>,
  records: AsyncGenerator<ArchiveRecord>,
  requireKnown: (name: string) => void,
  onBatch: (batch: ArchiveBatch) => Promise<void> | void,
): Promise<ArchiveContents> {
  const counts: Record<string, number> = {}
  let open: Open | null = null
  let end: Control<'end'> | null = null
  const flush = async ({ name, held }: Open): Promise<void> => {
    if (held.length > 0) await onBatch({ name, pass: 0, documents: held, gone: [] })
  }
  for await (const record of records) {
    if (end !== null) throw new Error('the archive continues after its end')
    if (record.kind !== 'control') {
      if (open === null || record.kind === 'gone') throw new Error('the archive holds a document of no collection')
      open.hash.update(record.bytes)
      open.count += 1
      open.held.push(documentOf(record.bytes))
      if (open.held.length < BATCH) continue
      await flush(open)
      open.held = []
      continue
    }
    const { control } = record
    if (control.t === 'collection') {
      const { name } = control
      if (open !== null || counts[name] !== undefined)
        throw new Error(`collection ${name} is out of its place in the archive`)
      requireKnown(name)
      open = { name, hash: createHash('sha256'), count: 0, held: [] }
    } else if (control.t === 'collection_end') {
      await flush(closed(control, open))
      counts[control.name] = control.count
      open = null
    } else if (control.t === 'end') {
      checkEnd(control, counts, open)
      end = control
    } else throw new Error('the archive holds a record out of its place')
  }
  if (end === null) throw new Error('the archive has no end')
  const { takenAt, schemaVersion } = begin
  return { takenAt, schemaVersion, backupId: null, counts, documents: end.documents }
}

function closed(control: Control<'collection_end'>, open: Open | null): Open {
  const digest = open?.hash.digest('hex')
  if (open === null || open.name !== control.name || open.count !== control.count || digest !== control.sha256) {
    throw new Error(`collection ${control.name} does not match its count or hash in the archive`)
  }
  return open
}

function checkEnd(control: Control<'end'>, counts: Readonly<Record<string, number>>, open: Open | null): void {
  const documents = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (open !== null || Object.keys(counts).length !== control.collections || documents !== control.documents) {
    throw new Error('the archive does not contain the documents that it declares')
  }
}
