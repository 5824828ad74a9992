/** The displayed rows of a list, and the number of new ones that wait. */
export interface FrozenRows<T> {
  readonly shown: readonly T[]
  readonly waiting: number
}

/** The last displayed state of a list. */
export interface ShownRows<T> extends FrozenRows<T> {
  /** Key of the list; null while rows of another list are shown until this one has loaded. */
  readonly key: string | null
  /** When its response arrived, in Unix ms of this browser. */
  readonly answeredAt: number
  /** The rows came from the cache and their refetch was already running: the next response is shown in full. */
  readonly isProvisional: boolean
}

/** The current query result of a list. */
export interface Answer<T> {
  readonly key: string
  readonly rows: readonly T[]
  readonly answeredAt: number
  readonly isFetching: boolean
  /** The rows belong to the previous query (`keepPreviousData`). */
  readonly isPlaceholder: boolean
  /** When a person in this browser last changed something, by the same clock; 0 = never. */
  readonly ownChangeAt: number
}

/**
 * Decides which rows a list shows. Rows of another list are marked by a null key and never become rows of this one. New rows wait,
 * so that nothing moves under a pointer, except where this person expects it: in the first response after the list was opened and
 * in the first response after their own change.
 */
export function showRows<T>(before: ShownRows<T> | null, now: Answer<T>, idOf: (row: T) => string): ShownRows<T> {
  const { key, rows, answeredAt } = now
  const isSame = before !== null && before.key === key
  if (now.isPlaceholder) {
    return isSame ? before : { key: null, shown: rows, waiting: 0, answeredAt, isProvisional: false }
  }
  if (!isSame) return { key, shown: rows, waiting: 0, answeredAt, isProvisional: now.isFetching }
  const isNewer = answeredAt > before.answeredAt
  const { ownChangeAt } = now
  const isOwn = isNewer && ownChangeAt > 0 && before.answeredAt <= ownChangeAt && ownChangeAt <= answeredAt
  if (isOwn || (isNewer && before.isProvisional)) {
    return { key, shown: rows, waiting: 0, answeredAt, isProvisional: false }
  }
  return { key, ...holdRows(before.shown, rows, idOf), answeredAt, isProvisional: before.isProvisional && !isNewer }
}

/**
 * Merges fetched rows into the displayed ones: known rows are replaced in place, new ones wait, so that no row moves
 * under a pointer. Rows that new ones pushed off the end stay unchanged; rows that left the list for another reason are removed.
 */
export function holdRows<T>(before: readonly T[], fetched: readonly T[], idOf: (row: T) => string): FrozenRows<T> {
  const fresh = new Map(fetched.map((row) => [idOf(row), row]))
  const known = new Set(before.map(idOf))
  const waiting = fetched.filter((row) => !known.has(idOf(row))).length
  const lastKept = before.findLastIndex((row) => fresh.has(idOf(row)))
  if (lastKept === -1 || waiting === 0) return { shown: fetched, waiting: 0 }
  const pushedOff = before.slice(lastKept + 1).slice(0, waiting)
  const kept = before.slice(0, lastKept + 1).flatMap((row) => fresh.get(idOf(row)) ?? [])
  return { shown: [...kept, ...pushedOff], waiting }
}
