import { createHash } from 'node:crypto'

/** Whether this choice is full scanning. */
export const isFull = (only: string) => only === 'full' || only === 'full/2'

/**
 * Invoices a day, how long a page is open, blocks of a request for logs, and nodes of a network: all cases with one node, or those of `200`,
 * `200/1` (minutes), `200/1/10` or `200/1/10/2`; `full/2` is full scanning with two nodes.
 */
export function casesOf(
  only: string | null,
): readonly [readonly number[], readonly number[], readonly number[], number] {
  if (only !== null && isFull(only)) return [[], [], [], only === 'full' ? 1 : 2]
  const [load, minutes, range, nodes = 1] = only === null ? [] : only.split('/').map(Number)
  return [
    load === undefined ? [0, 20, 200, 2_000] : [load],
    minutes === undefined ? [240_000, 60_000] : [minutes * 60_000],
    range === undefined ? [10, 10_000] : [range],
    nodes,
  ]
}

/** Numbers from 0 to 1 that are the same in every run. */
export function createLuck(seed: string): () => number {
  let count = 0
  return () => {
    count += 1
    return createHash('sha256').update(`${seed}:${count}`).digest().readUInt32BE(0) / 2 ** 32
  }
}
