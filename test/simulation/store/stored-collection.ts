import type { CollectionModel, IndexDefinition } from '#shared/db/connection/collection-model.ts'
import { type Doc, isDocument, type Key, keyOf } from './bson-values.ts'
import { duplicateKey, serverError } from './driver-errors.ts'
import { compileFilter } from './filter.ts'
import { createFieldIndex, createUniqueIndex, type FieldIndex } from './indexes.ts'

/** One write of one document: null stands for "was not there" and "is not there any more". */
export interface DocumentChange {
  readonly collection: string
  readonly id: Key
  readonly before: Doc | null
  readonly after: Doc | null
}

const DOCUMENT_VALIDATION_FAILURE = 121

/** The documents of a collection with their indexes. Everything is synchronous and each `put` is atomic. */
export interface StoredCollection {
  readonly name: string
  readonly definitions: readonly IndexDefinition[]
  /** Documents by key of `_id`, in order of insertion. */
  readonly documents: ReadonlyMap<Key, Doc>
  /** What every written document must match; absent when nothing is required. */
  readonly validator?: Doc
  /** Puts `after` in the place of `before`. Throws, and changes nothing, when a unique index or the validator refuses. */
  put(before: Doc | null, after: Doc | null): void
  /** The same for a document that was stored before: nothing is checked, and nobody hears of it. */
  restore(before: Doc | null, after: Doc | null): void
  /** Documents that match, at most `limit`. */
  find(filter: Doc, now: Date, limit?: number): Doc[]
}

/** An empty collection with the model's indexes and validator; `onChange` hears of every write. */
export function createStoredCollection(
  { name, indexes: definitions, schema, validator }: Omit<CollectionModel<Doc>, 'documentType'>,
  onChange: (change: DocumentChange) => void,
): StoredCollection {
  const documents = new Map<Key, Doc>()
  /** When each document came, as the server's record ids say: equal keys of an index are read in this order. */
  const ordinals = new Map<Key, number>()
  let inserted = 0
  const uniques = [
    createUniqueIndex({ name: '_id_', key: { _id: 1 } }),
    ...definitions.filter(({ unique }) => unique === true).map(createUniqueIndex),
  ]
  const isValid = checkOf(schema, validator)
  const fields = new Map<string, FieldIndex>()
  for (const { key } of definitions) {
    for (const path of Object.keys(key)) if (path !== '_id') fields.set(path, createFieldIndex(path))
  }

  const changed = (before: Doc | null, after: Doc | null, root: string): boolean =>
    before === null || after === null || before[root] !== after[root]

  const movedIndexes = (before: Doc | null, after: Doc | null) =>
    uniques.filter(({ roots }) => roots.some((root) => changed(before, after, root)))

  function put(before: Doc | null, after: Doc | null): void {
    const id = keyOf((after ?? before)?.['_id'])
    if (after !== null) {
      if (!isValid(after)) throw serverError(DOCUMENT_VALIDATION_FAILURE, 'Document failed validation')
      for (const index of movedIndexes(before, after)) {
        for (const key of index.keysOf(after)) {
          const owner = index.owners.get(key)
          if (owner === undefined || (owner === id && before !== null)) continue
          throw duplicateKey(`simulated.${name}`, index.name, index.pattern, index.valuesOf(after))
        }
      }
    }
    restore(before, after)
    onChange({ collection: name, id, before, after })
  }

  function restore(before: Doc | null, after: Doc | null): void {
    const id = keyOf((after ?? before)?.['_id'])
    for (const { owners, keysOf } of movedIndexes(before, after)) {
      if (before !== null) for (const key of keysOf(before)) owners.delete(key)
      if (after !== null) for (const key of keysOf(after)) owners.set(key, id)
    }
    for (const field of fields.values()) {
      if (!changed(before, after, field.root)) continue
      if (before !== null) field.remove(id, before)
      if (after !== null) field.add(id, after)
    }
    if (before === null) ordinals.set(id, ++inserted)
    if (after === null) documents.delete(id)
    else documents.set(id, after)
  }

  const ordinalOf = (document: Doc): number => ordinals.get(keyOf(document['_id'])) ?? 0
  const find = (filter: Doc, now: Date, limit = Number.POSITIVE_INFINITY): Doc[] => {
    const matches = compileFilter(filter)
    const found: Doc[] = []
    const { among, inOrder } = candidates(documents, fields, filter)
    for (const candidate of among) {
      if (inOrder && found.length >= limit) break
      if (matches(candidate, now)) found.push(candidate)
    }
    if (inOrder) return found
    found.sort((one, other) => ordinalOf(one) - ordinalOf(other))
    return found.length > limit ? found.slice(0, limit) : found
  }

  return { name, definitions, ...(validator !== undefined && { validator }), documents, put, restore, find }
}

/** What the server checks of a document. The fields say the same as the `$jsonSchema` that follows from them. */
function checkOf(schema: CollectionModel<Doc>['schema'], validator: Doc | undefined): (document: Doc) => boolean {
  if (validator === undefined) return () => true
  if (validator['$jsonSchema'] !== undefined) return (document) => schema.safeParse(document).success
  const matches = compileFilter(validator)
  return (document) => matches(document, new Date(0))
}

/** Documents that may match: by `_id`, by the rarest indexed value that the filter names, or all; and whether they are in order. */
function candidates(
  documents: ReadonlyMap<Key, Doc>,
  fields: ReadonlyMap<string, FieldIndex>,
  filter: Doc,
): { readonly among: Iterable<Doc>; readonly inOrder: boolean } {
  const byId = keysWanted(filter['_id'])
  if (byId !== null)
    return { among: pick(documents, byId.length > 1 ? [...new Set(byId)].sort() : byId), inOrder: true }
  let best: readonly ReadonlySet<Key>[] | null = null
  let bestSize = documents.size
  for (const path in filter) {
    const field = fields.get(path)
    if (field === undefined) continue
    const sets = setsWanted(field, filter[path])
    if (sets === null) continue
    let size = 0
    for (const set of sets) size += set.size
    if (size < bestSize) {
      best = sets
      bestSize = size
    }
  }
  if (best === null) return { among: documents.values(), inOrder: true }
  const [only] = best
  const ids = best.length === 1 && only !== undefined ? only : new Set(best.flatMap((set) => [...set]))
  return { among: pick(documents, ids), inOrder: ids.size < 2 }
}

function* pick(documents: ReadonlyMap<Key, Doc>, ids: Iterable<Key>): Iterable<Doc> {
  for (const id of ids) {
    const document = documents.get(id)
    if (document !== undefined) yield document
  }
}

/** Keys of the values that an operand admits; null when it admits more than a list of values. */
function keysWanted(operand: unknown): readonly Key[] | null {
  if (operand === undefined || Array.isArray(operand)) return null
  if (!isDocument(operand)) return [keyOf(operand)]
  const among = operand['$in']
  return Array.isArray(among) ? among.map(keyOf) : null
}

function setsWanted(field: FieldIndex, operand: unknown): readonly ReadonlySet<Key>[] | null {
  const keys = keysWanted(operand)
  if (keys !== null) return [...new Set(keys)].flatMap((key) => field.byKey.get(key) ?? [])
  if (!isDocument(operand)) return null
  const isPresent =
    operand['$exists'] === true ||
    operand['$type'] !== undefined ||
    ['$gt', '$gte', '$lt', '$lte'].some((name) => operand[name] !== undefined && operand[name] !== null)
  return isPresent ? [field.present] : null
}
