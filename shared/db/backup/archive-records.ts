import mongoose from 'mongoose'
import { z } from 'zod'

const CONTROL = 0
const DOCUMENT = 1
/** A BSON document has at most 16 MiB. */
const RECORD_MAX = 16 * 1_048_576 + 65_536

const controlSchema = z.discriminatedUnion('t', [
  z.object({ t: z.literal('begin'), takenAt: z.iso.datetime(), schemaVersion: z.number().int() }),
  z.object({ t: z.literal('collection'), name: z.string() }),
  z.object({ t: z.literal('collection_end'), name: z.string(), count: z.number().int(), sha256: z.string() }),
  z.object({ t: z.literal('end'), collections: z.number().int(), documents: z.number().int() }),
])

/** What stands between the documents of an archive. */
export type ArchiveControl = z.output<typeof controlSchema>

/** One record of an archive. `bytes` is BSON. */
export type ArchiveRecord =
  | { readonly kind: 'control'; readonly control: ArchiveControl }
  | { readonly kind: 'document'; readonly bytes: Buffer }

/** The bytes of a record: its length, its kind, its content. */
export function recordBytes(record: ArchiveRecord): Buffer {
  const content = record.kind === 'document' ? record.bytes : Buffer.from(JSON.stringify(record.control), 'utf8')
  const front = Buffer.alloc(5)
  front.writeUInt32BE(content.length)
  front[4] = record.kind === 'document' ? DOCUMENT : CONTROL
  return Buffer.concat([front, content])
}

/** The records in a stream of bytes. Throws on anything that `recordBytes` does not make, a stream that ends within a record included. */
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
  if (kind !== CONTROL) throw new Error(`the archive holds a record of unknown kind ${kind}`)
  return { kind: 'control', control: controlSchema.parse(JSON.parse(content.toString('utf8'))) }
}

/** A document as the store had it: every BSON type stays what it is, so that writing it again writes the same bytes. */
export function documentOf(bytes: Uint8Array): mongoose.mongo.Document {
  return mongoose.mongo.BSON.deserialize(bytes, { promoteValues: false, promoteBuffers: false, bsonRegExp: true })
}
