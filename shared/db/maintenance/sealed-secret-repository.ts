import type mongoose from 'mongoose'
import { classOf, type SealedField } from '#shared/db/connection/collection-class.ts'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { MODELS } from '#shared/db/schema/models.ts'
import type { SealedHolder, StoredEnvelope } from '#shared/ports/sealed-secrets.ts'

interface Row {
  _id: string
  [field: string]: unknown
}

/** Sealed values on MongoDB, found by the classes of the collections. */
export function createSealedSecretRepository(db: Database) {
  const models = new Map(
    MODELS.filter(({ name }) => classOf(name).sealed.length > 0).map((model) => [model.name, model] as const),
  )
  const collectionOf = (name: string): mongoose.mongo.Collection<Row> => {
    const model = models.get(name)
    if (model === undefined) throw new Error(`collection ${name} holds no sealed values`)
    return db.collection(model as CollectionModel<Row>)
  }
  const projection = (name: string) =>
    Object.fromEntries(classOf(name).sealed.map(({ path }) => [path.split('.')[0] ?? path, 1] as const))
  return {
    /** Collections that contain sealed values. */
    collections: [...models.keys()],
    /** Approximate number of documents of a collection; for progress only. */
    size: (name: string): Promise<number> => collectionOf(name).estimatedDocumentCount(),
    /** Documents after `after` in the order of their ids, majority-committed; including those without sealed values. */
    page: async (name: string, after: string | null, limit: number): Promise<readonly SealedHolder[]> => {
      const behind = after === null ? {} : { _id: { $gt: after } }
      const found = await collectionOf(name)
        .find(behind, { projection: projection(name) })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray()
      return found.map((document) => ownerOf(name, document))
    },
    findOne: async (name: string, id: string): Promise<SealedHolder | null> => {
      const found = await collectionOf(name).findOne({ _id: id }, { projection: projection(name) })
      return found === null ? null : ownerOf(name, found)
    },
    /** Replaces `from` by `to` everywhere or nowhere; false when any of them is not there any more. */
    replace: async (
      name: string,
      id: string,
      changes: readonly { readonly path: string; readonly from: string; readonly to: string }[],
    ): Promise<boolean> => {
      const filter = Object.fromEntries(changes.map(({ path, from }) => [path, from] as const))
      const $set = Object.fromEntries(changes.map(({ path, to }) => [path, to] as const))
      const held: mongoose.mongo.Filter<Row> = { ...filter, _id: id }
      return (await collectionOf(name).updateOne(held, { $set })).matchedCount === 1
    },
  }
}

/** The type of what {@link createSealedSecretRepository} returns. */
export type SealedSecretRepository = ReturnType<typeof createSealedSecretRepository>

function ownerOf(name: string, document: Row): SealedHolder {
  return { id: document._id, envelopes: envelopesIn(name, document) }
}

/** The sealed values of a document of this collection. */
export function envelopesIn(collection: string, document: { readonly _id: string }): readonly StoredEnvelope[] {
  return classOf(collection).sealed.flatMap((field) => envelopesAt(document, field))
}

function envelopesAt(document: { readonly _id: string }, { path, contextOf }: SealedField): StoredEnvelope[] {
  let found: readonly (readonly [string, unknown])[] = [['', document]]
  for (const part of path.split('.')) {
    found = found.flatMap(([at, value]) => {
      if (typeof value !== 'object' || value === null) return []
      const keys = Object.keys(value).filter((key) =>
        part.startsWith('*') ? key.endsWith(part.slice(1)) : key === part,
      )
      return keys.map((key) => [at === '' ? key : `${at}.${key}`, Reflect.get(value, key) as unknown] as const)
    })
  }
  return found.flatMap(([at, sealed]) =>
    typeof sealed === 'string' && sealed !== '' ? [{ path: at, sealed, context: contextOf(document._id) }] : [],
  )
}
