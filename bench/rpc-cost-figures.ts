import { createHash } from 'node:crypto'
import { unitsOfCall } from '#shared/domain/nodes/providers.ts'
import type { ChainClient } from '#shared/ports/scanning.ts'
import type { CallCounts } from './rpc-cost-node.ts'

/** What one network cost in a month, and how soon payments were seen. */
export interface Outcome {
  readonly calls: number
  readonly units: number
  readonly bytes: number
  /** Of these calls and units, those of the second node; null where a network has one. */
  readonly second: { readonly calls: number; readonly units: number } | null
  /** Units by the scanner's question. */
  readonly reasons: ReadonlyMap<string, number>
  /** Milliseconds from a payment's block to its record, while its page was open and when it was closed. */
  readonly open: readonly number[]
  readonly closed: readonly number[]
  readonly missed: number
}

/** Rounded to a tenth of a million. */
export const millions = (units: number) => (units / 1e6).toFixed(1)

/** One line of the table. */
export function lineOf(network: string, { calls, units, bytes, second, open, closed, missed }: Outcome): string {
  const ofSecond =
    second === null ? '' : `, second node ${(second.calls / 1e3).toFixed(0)} k calls, ${millions(second.units)} M units`
  const delays = (all: readonly number[]) => `${percentile(all, 0.5)} / ${percentile(all, 0.95)} s`
  return [
    network.padEnd(9),
    `${(calls / 1e3).toFixed(0)} k calls`.padStart(14),
    `${millions(units)} M units`.padStart(15),
    `${(bytes / 2 ** 20).toFixed(0)} MB`.padStart(10),
    `  delay p50 / p95 open ${delays(open)} (${open.length}), closed ${delays(closed)} (${closed.length}), missed ${missed}${ofSecond}`,
  ].join('')
}

function percentile(all: readonly number[], share: number): string {
  const sorted = [...all].sort((one, other) => one - other)
  const found = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
  return found === undefined ? '–' : (found / 1_000).toFixed(1)
}

/** Calls and units of all methods. */
export function totals({ calls }: Pick<CallCounts, 'calls'>): readonly [number, number] {
  let [all, units] = [0, 0]
  for (const [method, count] of calls) {
    all += count
    units += count * unitsOfCall('alchemy', 'evm', method)
  }
  return [all, units]
}

/** The client, whose functions add what they cost to `reasons`; they are never called side by side. */
export function countByQuestion<C extends ChainClient>(node: CallCounts, client: C, reasons: Map<string, number>): C {
  const counted = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(own, name) {
        const found: unknown = Reflect.get(own, name)
        if (found !== undefined && (name === 'accounts' || name === 'balances')) return counted(found as object)
        if (typeof found !== 'function') return found
        return (...input: readonly unknown[]) => {
          const [, before] = totals(node)
          const answer: unknown = Reflect.apply(found, own, input)
          if (!(answer instanceof Promise)) return answer
          return answer.finally(() => {
            const reason = String(name)
            reasons.set(reason, (reasons.get(reason) ?? 0) + totals(node)[1] - before)
          })
        }
      },
    })
  return counted(client)
}

/** Whether this choice is full scanning. */
export const isFull = (only: string) => only === 'full' || only === 'full/2'

/** What is played. */
export interface Cases {
  /** Invoices a day on all networks together. */
  readonly loads: readonly number[]
  readonly pagesMs: readonly number[]
  /** Blocks of a request for logs. */
  readonly ranges: readonly number[]
  readonly nodes: number
  /** Time between two blocks, as a multiple of the network's. */
  readonly pace: number
  /** Addresses of invoices that ended long ago. */
  readonly old: number
}

/**
 * All cases with one node at the networks' pace and without old addresses, or those of `200`, `200/1` (minutes), `200/1/10` (blocks),
 * `200/1/10/2` (nodes), `200/1/10/1/0.1` (pace) or `0/1/10/1/1/100000` (old addresses); `full/2` is full scanning with two nodes.
 */
export function casesOf(only: string | null): Cases {
  if (only !== null && isFull(only))
    return { loads: [], pagesMs: [], ranges: [], nodes: only === 'full' ? 1 : 2, pace: 1, old: 0 }
  const [load, minutes, range, nodes = 1, pace = 1, old = 0] = only === null ? [] : only.split('/').map(Number)
  return {
    loads: load === undefined ? [0, 20, 200, 2_000] : [load],
    pagesMs: minutes === undefined ? [240_000, 60_000] : [minutes * 60_000],
    ranges: range === undefined ? [10, 10_000] : [range],
    nodes,
    pace,
    old,
  }
}

/** Numbers from 0 to 1 that are the same in every run. */
export function createLuck(seed: string): () => number {
  let count = 0
  return () => {
    count += 1
    return createHash('sha256').update(`${seed}:${count}`).digest().readUInt32BE(0) / 2 ** 32
  }
}
