/** What a list shows after new rows came, and how many wait. */
export interface HeldRows<T> {
  readonly shown: readonly T[]
  readonly waiting: number
}

/** What a list showed last. */
export interface Shown<T> extends HeldRows<T> {
  /** Names the list; null while rows of another list stand in for those that are still loading. */
  readonly key: string | null
  /** When the answer behind it arrived, in Unix ms of this browser. */
  readonly answeredAt: number
  /** The rows came from the cache and their refetch was already running: the answer to it is shown in full. */
  readonly isProvisional: boolean
}

/** What the query of a list has now. */
export interface Answer<T> {
  readonly key: string
  readonly rows: readonly T[]
  readonly answeredAt: number
  readonly isFetching: boolean
  /** The rows answer the question before this one (`keepPreviousData`). */
  readonly isPlaceholder: boolean
  /** When somebody in this browser last changed something, in the same clock; 0 = never. */
  readonly ownChangeAt: number
}

/**
 * Decides which rows a list shows. Rows of another list are marked by a null key and never become rows of this one. New rows wait,
 * so that nothing moves under a pointer, except where this person expects them: in the first answer after the list was opened and
 * in the first answer after a change of their own.
 */
export function showRows<T>(before: Shown<T> | null, now: Answer<T>, idOf: (row: T) => string): Shown<T> {
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
 * Puts fetched rows into the places people see: known rows are replaced where they stand, new ones wait, so that no row moves
 * under a pointer. Rows that new ones pushed off the end stay as they were; rows that left the list for another reason go.
 */
export function holdRows<T>(before: readonly T[], fetched: readonly T[], idOf: (row: T) => string): HeldRows<T> {
  const fresh = new Map(fetched.map((row) => [idOf(row), row]))
  const known = new Set(before.map(idOf))
  const waiting = fetched.filter((row) => !known.has(idOf(row))).length
  const lastKept = before.findLastIndex((row) => fresh.has(idOf(row)))
  if (lastKept === -1 || waiting === 0) return { shown: fetched, waiting: 0 }
  const pushedOff = before.slice(lastKept + 1).slice(0, waiting)
  const kept = before.slice(0, lastKept + 1).flatMap((row) => fresh.get(idOf(row)) ?? [])
  return { shown: [...kept, ...pushedOff], waiting }
}
