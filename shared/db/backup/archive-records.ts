import mongoose from 'mongoose'
import { z } from 'zod'

const CONTROL = 0
const DOCUMENT = 1
const GONE = 2
/** A BSON document has at most 16 MiB. */
const RECORD_MAX = 16 * 1_048_576 + 65_536

const count = z.number().int().min(0)

const controlSchema = z.discriminatedUnion('t', [
  // Batches in passes, and a moment at the end.
  z.object({
    t: z.literal('start'),
    backupId: z.string().max(100),
    startedAt: z.iso.datetime(),
    schemaVersion: z.number().int(),
  }),
  z.object({
    t: z.literal('batch'),
    name: z.string(),
    pass: count,
    documents: count.max(100_000),
    gone: count.max(100_000),
  }),
  z.object({
    t: z.literal('finish'),
    takenAt: z.iso.datetime(),
    /** The same moment as the cluster time of the store: seconds and the number within the second. */
    clusterTime: z.tuple([count, count]),
    collections: z.record(
      z.string(),
      z.object({
        /** Records of this collection in the archive. */
        documents: count,
        gone: count,
        /** Over the bytes of these records, in order. */
        sha256: z.string(),
        /** Documents of the collection at `takenAt`; null when the store could no longer count them. */
        stored: count.nullable(),
      }),
    ),
  }),
])

/** Control records between the documents of an archive. */
export type ArchiveControl = z.output<typeof controlSchema>

/** One record of an archive. `bytes` is BSON: a document, or of a document that no longer exists its `_id`. */
export type ArchiveRecord =
  | { readonly kind: 'control'; readonly control: ArchiveControl }
  | { readonly kind: 'document' | 'gone'; readonly bytes: Buffer }

/** The bytes of a record: its length, its kind, its content. */
export function recordBytes(record: ArchiveRecord): Buffer {
  const content = record.kind === 'control' ? Buffer.from(JSON.stringify(record.control), 'utf8') : record.bytes
  const front = Buffer.alloc(5)
  front.writeUInt32BE(content.length)
  front[4] = record.kind === 'control' ? CONTROL : record.kind === 'document' ? DOCUMENT : GONE
  return Buffer.concat([front, content])
}

/** The records in a stream of bytes. Throws on anything that `recordBytes` does not produce, including a stream that ends within a record. */
export async function* readRecords(source: AsyncIterable<Uint8Array>): AsyncGenerator<ArchiveRecord> {
  let held: Buffer = Buffer.alloc(0)
  for await (const part of source) {
    held = held.length === 0 ? Buffer.from(part) : Buffer.concat([held, part])
    let at = 0
    while (held.length - at >= 5) {
      const length = held.readUInt32BE(at)
      if (length > RECORD_MAX) throw new Error('the archive holds a record that is too long')
      if (held.length - at - 5 < length) break
      yield recordOf(held[at + 4], held.subarray(at + 5, at + 5 + length))
      at += 5 + length
    }
    held = held.subarray(at)
  }
  if (held.length > 0) throw new Error('the archive ends within a record')
}

function recordOf(kind: number | undefined, content: Buffer): ArchiveRecord {
  if (kind === DOCUMENT) return { kind: 'document', bytes: content }
  if (kind === GONE) return { kind: 'gone', bytes: content }
  if (kind !== CONTROL) throw new Error(`the archive holds a record of unknown kind ${kind}`)
  return { kind: 'control', control: controlSchema.parse(JSON.parse(content.toString('utf8'))) }
}

/** A document as stored: every BSON type is preserved, so that writing it again writes the same bytes. */
export function documentOf(bytes: Uint8Array): mongoose.mongo.Document {
  return mongoose.mongo.BSON.deserialize(bytes, { promoteValues: false, promoteBuffers: false, bsonRegExp: true })
}
