/** What a list shows after new rows came, and how many wait. */
export interface HeldRows<T> {
  readonly shown: readonly T[]
  readonly waiting: number
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
