import type mongoose from 'mongoose'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { BOOKS_FACT } from '#shared/db/reconciliation/reconciliation-repository.ts'
import { RESTORE_FACT } from '#shared/db/restore/restore-state.ts'
import { MODELS } from '#shared/db/schema/models.ts'
import { type ArchiveContents, walkArchive } from './archive-contents.ts'

const BATCH = 500
/** What an earlier restore left behind says nothing about this one, and restored books are judged from their beginning. */
const LEFT_OUT = [RESTORE_FACT, BOOKS_FACT]

interface Stored {
  _id: string
}

/** Throws, and says what is there, unless no collection of ours holds anything. */
export async function requireEmpty(db: Database): Promise<void> {
  for (const model of MODELS) {
    if ((await db.collection(model).findOne({}, { projection: { _id: 1 } })) === null) continue
    const hint =
      model.name === 'processes'
        ? 'processes run on it, or did a short time ago: stop them and use another database'
        : ''
    throw new Error(
      `database ${db.name} is not empty (${model.name}${hint === '' ? '' : `: ${hint}`}); an archive is restored into an empty one only`,
    )
  }
}

/** Writes every document of an archive, which was walked through before, and throws unless the store holds exactly those then. */
export async function writeArchive(
  db: Database,
  source: AsyncIterable<Uint8Array>,
  onProgress: (collection: string, documents: number) => void,
): Promise<ArchiveContents> {
  const models = new Map(MODELS.map((model) => [model.name, model as CollectionModel<Stored>]))
  let batch: { readonly name: string; readonly documents: mongoose.mongo.Document[] } | null = null
  const written: Record<string, number> = {}
  const flush = async (): Promise<void> => {
    if (batch === null || batch.documents.length === 0) return
    const { name, documents } = batch
    const model = models.get(name)
    if (model === undefined) throw new Error(`unknown collection ${name}`)
    await db.collection(model).insertMany(documents as Stored[], { ordered: true })
    written[name] = (written[name] ?? 0) + documents.length
    onProgress(name, written[name])
    batch = null
  }
  const contents = await walkArchive(source, async (name, document) => {
    if (name === INSTALLATION.name && LEFT_OUT.includes(document['_id'])) return
    if (batch !== null && (batch.name !== name || batch.documents.length >= BATCH)) await flush()
    batch ??= { name, documents: [] }
    batch.documents.push(document)
  })
  await flush()
  for (const [name, count] of Object.entries(contents.counts)) {
    const model = models.get(name)
    const stored = model === undefined ? 0 : await db.collection(model).countDocuments({ _id: { $ne: RESTORE_FACT } })
    if (stored !== (written[name] ?? 0)) throw new Error(`${name} has ${stored} documents instead of ${count}`)
  }
  return contents
}
