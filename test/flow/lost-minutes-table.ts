/** What one key did in one way in which the database came back. */
export interface DrillRow {
  readonly way: string
  readonly key: string
  /** Addresses issued in the lost minutes, and since. */
  readonly lost: number
  readonly since: number
  /** Null: the database has no such key. */
  readonly nextBefore: number | null
  readonly nextAtEnd: number | null
  /** Consecutive indexes without an invoice. */
  readonly skipped: number
  readonly twice: number
  readonly found: string
}

const HEAD = [
  ...['case', 'key', 'issued in the lost minutes', 'next index before', 'next index at the end', 'skipped'],
  ...['issued since', 'issued twice', 'found money'],
]

/** The longest run of indexes between two issued ones that nobody got: a wallet that looks for its addresses needs a larger gap limit. */
export function largestGap(indexes: readonly number[]): number {
  const sorted = indexes.toSorted((one, other) => one - other)
  return Math.max(0, ...sorted.map((index, at) => index - (sorted[at - 1] ?? -1) - 1))
}

/** The drill's table in aligned columns. */
export function drillTable(rows: readonly DrillRow[]): string {
  const cells = rows.map(({ way, key, lost, nextBefore, nextAtEnd, skipped, since, twice, found }) =>
    [way, key, lost, nextBefore ?? 'no key', nextAtEnd ?? 'no key', skipped, since, twice, found].map(String),
  )
  const widths = HEAD.map((title, at) => Math.max(title.length, ...cells.map((row) => row[at]?.length ?? 0)))
  const line = (row: readonly string[]): string => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')
  return [HEAD, ...cells].map((row) => line(row).trimEnd()).join('\n')
}
