import { createHash, type Hash } from 'node:crypto'
import type mongoose from 'mongoose'
import { classOf } from '#shared/db/connection/collection-class.ts'
import { MODELS } from '#shared/db/schema/models.ts'
import { type ArchiveControl, documentOf, readRecords } from './archive-records.ts'

/** What an archive said it holds, and was found to hold. */
export interface ArchiveContents {
  /** ISO 8601. */
  readonly takenAt: string
  readonly schemaVersion: number
  readonly counts: Readonly<Record<string, number>>
}

interface Open {
  readonly name: string
  readonly hash: Hash
  count: number
}

/**
 * Walks through the records of an archive and checks everything that it says of itself: order, names, counts, hashes, its end, and that each
 * document is one. `onDocument` sees the documents in their order, `onBegin` the front before them. Throws at the first thing that is wrong.
 */
export async function walkArchive(
  source: AsyncIterable<Uint8Array>,
  onDocument: (collection: string, document: mongoose.mongo.Document) => Promise<void> | void,
  onBegin: (begin: Extract<ArchiveControl, { t: 'begin' }>) => void = () => undefined,
): Promise<ArchiveContents> {
  const expected = new Set(MODELS.map(({ name }) => name).filter((name) => classOf(name).backup === 'kept'))
  const counts: Record<string, number> = {}
  let begin: Extract<ArchiveControl, { t: 'begin' }> | null = null
  let open: Open | null = null
  let ended = false
  for await (const record of readRecords(source)) {
    if (ended) throw new Error('the archive goes on after its end')
    if (record.kind === 'document') {
      if (open === null) throw new Error('the archive holds a document of no collection')
      open.hash.update(record.bytes)
      open.count += 1
      await onDocument(open.name, documentOf(record.bytes))
      continue
    }
    const { control } = record
    if (control.t === 'begin') {
      if (begin !== null) throw new Error('the archive begins twice')
      begin = control
      onBegin(control)
    } else if (control.t === 'collection')
      open = openCollection(control.name, expected, counts, begin !== null && open === null)
    else if (control.t === 'collection_end') {
      close(control, open)
      counts[control.name] = control.count
      open = null
    } else {
      checkEnd(control, counts, open)
      ended = true
    }
  }
  if (!ended || begin === null) throw new Error('the archive has no end')
  return { takenAt: begin.takenAt, schemaVersion: begin.schemaVersion, counts }
}

function openCollection(
  name: string,
  expected: ReadonlySet<string>,
  counts: Readonly<Record<string, number>>,
  isInPlace: boolean,
): Open {
  if (!isInPlace || counts[name] !== undefined) throw new Error(`collection ${name} is out of its place in the archive`)
  if (!expected.has(name)) {
    throw new Error(
      `the archive holds collection ${name}, which this version does not know: use the version that made it`,
    )
  }
  return { name, hash: createHash('sha256'), count: 0 }
}

function close(control: Extract<ArchiveControl, { t: 'collection_end' }>, open: Open | null): void {
  const digest = open?.hash.digest('hex')
  if (open?.name !== control.name || open.count !== control.count || digest !== control.sha256) {
    throw new Error(`collection ${control.name} is not what the archive says it is`)
  }
}

function checkEnd(
  control: Extract<ArchiveControl, { t: 'end' }>,
  counts: Readonly<Record<string, number>>,
  open: Open | null,
): void {
  const documents = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (open !== null || Object.keys(counts).length !== control.collections || documents !== control.documents) {
    throw new Error('the archive does not hold what it says it holds')
  }
}
