import type { RawTransfer } from '#shared/ports/scanning.ts'

/** Since when unconfirmed transactions are known. One number for each, for as long as a mempool lists it. */
export interface MempoolAges {
  /** Whether a transaction was listed before. */
  has(txid: string): boolean
  /** Notes transactions of a listing as known from now on. */
  add(txids: Iterable<string>): void
  /** Notes that a transaction has been known for so long, when that is longer than was thought. */
  atLeast(txid: string, ms: number): void
  /**
   * Forgets what two listings in a row lack: after the first one the block may be read that holds it, and then its age is
   * asked for.
   */
  keep(listed: ReadonlySet<string>): void
  /** For how long the transactions of these transfers have been known, milliseconds by id; without unknown ones. */
  of(transfers: readonly Pick<RawTransfer, 'txHash'>[]): ReadonlyMap<string, number>
}

/** Knows nothing yet. `now` gives milliseconds that only grow. */
export function createMempoolAges(now: () => number = () => performance.now()): MempoolAges {
  const since = new Map<string, number>()
  let missing: ReadonlySet<string> = new Set()
  return {
    has: (txid) => since.has(txid),
    add(txids) {
      const at = now()
      for (const txid of txids) if (!since.has(txid)) since.set(txid, at)
    },
    atLeast(txid, ms) {
      const from = now() - Math.max(0, ms)
      since.set(txid, Math.min(since.get(txid) ?? from, from))
    },
    keep(listed) {
      const absent = [...since.keys()].filter((txid) => !listed.has(txid))
      for (const txid of absent) if (missing.has(txid)) since.delete(txid)
      missing = new Set(absent)
    },
    of(transfers) {
      const at = now()
      const known = transfers.flatMap(({ txHash }) => {
        const from = since.get(txHash)
        return from === undefined ? [] : [[txHash, at - from] as const]
      })
      return new Map(known)
    },
  }
}
