import type { IndexDefinition } from '#shared/db/connection/collection-model.ts'
import { canonical, type Doc, isDocument, type Key, keyOf } from './bson-values.ts'
import { compileFilter } from './filter.ts'

/** A unique index: who owns each key. */
export interface UniqueIndex {
  readonly name: string
  readonly pattern: Doc
  /** Top-level fields whose change may change the document's keys. */
  readonly roots: readonly string[]
  readonly owners: Map<Key, Key>
  /** The keys of a document; none when a partial index leaves it out, several when a field is an array. */
  keysOf(document: Doc): readonly Key[]
  /** The indexed values, for the message of a refusal. */
  valuesOf(document: Doc): Doc
}

function distinctKeys(values: readonly unknown[]): readonly Key[] {
  return values.length === 1 ? [keyOf(values[0])] : [...new Set(values.map(keyOf))]
}

const AT_ANY_TIME = new Date(0)

/** A unique index over the definition's fields. */
export function createUniqueIndex(definition: IndexDefinition): UniqueIndex {
  const paths = Object.keys(definition.key).map((path) => path.split('.'))
  const partial = definition.partialFilterExpression
  const includes = partial === undefined ? () => true : compileFilter(partial)
  const [only] = paths
  return {
    name: definition.name,
    pattern: definition.key,
    roots: [...Object.keys(definition.key), ...Object.keys(partial ?? {})].map(rootOf),
    owners: new Map(),
    keysOf: (document) => {
      if (!includes(document, AT_ANY_TIME)) return []
      if (only !== undefined && paths.length === 1) return distinctKeys(indexedValues(document, only))
      let keys = ['']
      for (const path of paths) {
        const values = indexedValues(document, path)
        keys = keys.flatMap((key) => values.map((value) => `${key}|${canonical(value)}`))
      }
      return keys
    },
    valuesOf: (document) =>
      Object.fromEntries(
        Object.keys(definition.key).map((path) => [path, indexedValues(document, path.split('.'))[0] ?? null]),
      ),
  }
}

/** The first part of a path. */
export const rootOf = (path: string): string => path.split('.', 1)[0] ?? path

/** A field of some index, as a hash from value to documents: what finds the candidates of a filter. */
export interface FieldIndex {
  readonly root: string
  readonly byKey: Map<Key, Set<Key>>
  /** Documents that have the field at all. */
  readonly present: Set<Key>
  add(id: Key, document: Doc): void
  remove(id: Key, document: Doc): void
}

/** A hash over one field, dotted or not. */
export function createFieldIndex(path: string): FieldIndex {
  const parts = path.split('.')
  const byKey = new Map<Key, Set<Key>>()
  const present = new Set<Key>()
  return {
    root: rootOf(path),
    byKey,
    present,
    add(id, document) {
      for (const value of indexedValues(document, parts)) {
        if (value !== undefined) present.add(id)
        const key = keyOf(value)
        const ids = byKey.get(key)
        if (ids === undefined) byKey.set(key, new Set([id]))
        else ids.add(id)
      }
    },
    remove(id, document) {
      present.delete(id)
      for (const value of indexedValues(document, parts)) {
        const key = keyOf(value)
        const ids = byKey.get(key)
        ids?.delete(id)
        if (ids?.size === 0) byKey.delete(key)
      }
    },
  }
}

/** The values that an index has for a document at a path: one for each element of an array, undefined where nothing is. */
function indexedValues(value: unknown, parts: readonly string[], at = 0): readonly unknown[] {
  const part = parts[at]
  if (part === undefined) return Array.isArray(value) ? (value.length === 0 ? [undefined] : value) : [value]
  if (Array.isArray(value)) {
    return value.length === 0 ? [undefined] : value.flatMap((item) => indexedValues(item, parts, at))
  }
  return isDocument(value) ? indexedValues(value[part], parts, at + 1) : [undefined]
}
