import { compare, copyDocument, type Doc, isDocument, type Key, keyOf, unsupported } from './bson-values.ts'
import { evaluate } from './expression.ts'
import { compileFilter } from './filter.ts'
import type { StoredCollection } from './stored-collection.ts'

/** How a find shapes its answer. */
export interface FindShape {
  readonly sort?: Doc
  readonly limit?: number
  readonly skip?: number
  readonly projection?: Doc
}

/** Copies of the documents that match, sorted, cut and projected. Ties keep the order in which they were found. */
export function find(
  collection: StoredCollection,
  filter: Doc,
  shape: FindShape,
  now: Date,
): Record<string, unknown>[] {
  const { sort, limit = 0, skip = 0, projection } = shape
  const end = limit > 0 ? skip + limit : Number.POSITIVE_INFINITY
  const found = collection.find(filter, now, sort === undefined ? end : undefined)
  if (sort !== undefined) sortDocuments(found, sort)
  const cut = skip > 0 || found.length > end ? found.slice(skip, end) : found
  return cut.map((document) => project(document, projection))
}

/** How many documents match, counted up to `limit`. */
export const count = (collection: StoredCollection, filter: Doc, limit: number, now: Date): number =>
  collection.find(filter, now, limit > 0 ? limit : undefined).length

/** The different values of a field, in BSON order; those of an array count one by one and missing ones do not. */
export function distinct(collection: StoredCollection, field: string, filter: Doc, now: Date): unknown[] {
  if (field.includes('.')) throw unsupported(`distinct of a path (${field})`)
  const values = new Map<Key, unknown>()
  for (const document of collection.find(filter, now)) {
    const value = document[field]
    for (const item of Array.isArray(value) ? value : [value]) if (item !== undefined) values.set(keyOf(item), item)
  }
  return [...values.values()].sort(compare)
}

/** Sorts in place; a missing field sorts as null, an array as its least or greatest element. */
function sortDocuments(documents: Doc[], sort: Doc): void {
  const keys = Object.entries(sort).map(([path, direction]): { path: string; direction: 1 | -1 } => {
    if (direction !== 1 && direction !== -1) throw unsupported(`sort direction ${String(direction)}`)
    if (path.includes('.')) throw unsupported(`sort by a path (${path})`)
    return { path, direction }
  })
  documents.sort((one, other) => {
    for (const { path, direction } of keys) {
      const order = compare(sortValue(one[path], direction), sortValue(other[path], direction))
      if (order !== 0) return direction * order
    }
    return 0
  })
}

function sortValue(value: unknown, direction: 1 | -1): unknown {
  if (!Array.isArray(value)) return value ?? null
  let chosen: unknown = value[0]
  for (const item of value) if (direction * compare(item, chosen) < 0) chosen = item
  return chosen
}

/** A copy with the fields that the projection keeps, or fields of documents in lists; their order is the document's. */
export function project(document: Doc, projection: Doc | undefined): Record<string, unknown> {
  if (projection === undefined) return copyDocument(document)
  const { _id: id, ...fields } = projection
  const names = Object.keys(fields)
  const isExclusion = names.length === 0 ? id !== 1 : fields[names[0] ?? ''] === 0
  const wanted = isExclusion ? 0 : 1
  const dotted = names.filter((name) => name.includes('.')).map((name) => name.split('.'))
  if (names.some((name) => fields[name] !== wanted) || (isExclusion && dotted.length > 0))
    throw unsupported('projection but of fields that are kept, or of whole ones that are not')
  const within = (name: string) => dotted.filter(([first]) => first === name)
  const isKept = (name: string): boolean =>
    name === '_id' ? id !== 0 : within(name).length > 0 || name in fields !== isExclusion
  const kept = Object.entries(document).filter(([name]) => isKept(name))
  return copyDocument(Object.fromEntries(kept.map(([name, value]) => [name, fieldsWithin(value, within(name))])))
}

function fieldsWithin(list: unknown, paths: readonly (readonly string[])[]): unknown {
  if (paths.length === 0) return list
  if (!Array.isArray(list) || !list.every(isDocument) || paths.some(({ length }) => length > 2))
    throw unsupported('projection of fields but in documents of a list')
  const names = new Set(paths.map(([, name]) => name))
  return list.map((item) => Object.fromEntries(Object.entries(item).filter(([name]) => names.has(name))))
}

/** Names of the implemented stages of `aggregate`. */
export const AGGREGATE_STAGES: readonly string[] = [
  ...['$match', '$sort', '$limit', '$group', '$set', '$project'],
  '$unionWith',
]
/** Names of the implemented accumulators of `$group`. */
export const ACCUMULATORS: readonly string[] = ['$first', '$push', '$sum']

/** What an aggregation reads besides its own collection. */
export interface AggregateScope {
  readonly now: Date
  /** For `$unionWith`. */
  readonly collection: (name: string) => StoredCollection
}

/** The answer of an aggregation; groups come in the order of their first member. */
export function aggregate(
  collection: StoredCollection,
  pipeline: readonly Doc[],
  scope: AggregateScope,
): Record<string, unknown>[] {
  const [first] = pipeline
  const match = first?.['$match']
  let rows: Doc[] = collection.find(isDocument(match) ? match : {}, scope.now)
  for (const stage of match === undefined ? pipeline : pipeline.slice(1)) rows = applyStage(rows, stage, scope)
  return rows.map(copyDocument)
}

function applyStage(rows: Doc[], stage: Doc, scope: AggregateScope): Doc[] {
  const { now } = scope
  const [name = ''] = Object.keys(stage)
  const operand = stage[name] as Doc
  switch (name) {
    case '$match': {
      const matches = compileFilter(operand)
      return rows.filter((row) => matches(row, now))
    }
    case '$sort': {
      const sorted = [...rows]
      sortDocuments(sorted, operand)
      return sorted
    }
    case '$limit':
      return rows.slice(0, Number(operand))
    case '$project':
      return rows.map((row) => project(row, operand))
    case '$set':
      return rows.map((root) => ({ ...root, ...fieldsOf(operand, { root, now }) }))
    case '$group':
      return group(rows, operand, now)
    case '$unionWith':
      return [...rows, ...aggregate(scope.collection(String(operand['coll'])), operand['pipeline'] as Doc[], scope)]
    default:
      throw unsupported(`aggregate stage ${name}`)
  }
}

function fieldsOf(fields: Doc, scope: { readonly root: Doc; readonly now: Date }): Record<string, unknown> {
  const names = Object.keys(fields)
  if (names.some((name) => name.includes('.'))) throw unsupported('aggregate stage $set of a path')
  return Object.fromEntries(names.map((name) => [name, evaluate(fields[name], scope)]))
}

function group(rows: readonly Doc[], { _id: by, ...fields }: Doc, now: Date): Doc[] {
  const groups = new Map<Key, Record<string, unknown>>()
  for (const root of rows) {
    const scope = { root, now }
    const id = evaluate(by, scope) ?? null
    const known = groups.get(keyOf(id))
    const one = known ?? { _id: id }
    if (known === undefined) groups.set(keyOf(id), one)
    for (const [name, accumulator] of Object.entries(fields)) {
      const [operator = ''] = Object.keys(accumulator as Doc)
      const value = evaluate((accumulator as Doc)[operator], scope)
      if (operator === '$sum') one[name] = Number(one[name] ?? 0) + (typeof value === 'number' ? value : 0)
      else if (operator === '$push')
        one[name] = [...((one[name] as unknown[] | undefined) ?? []), ...(value === undefined ? [] : [value])]
      else if (operator !== '$first') throw unsupported(`accumulator ${operator}`)
      else if (known === undefined) one[name] = value ?? null
    }
  }
  return [...groups.values()]
}
