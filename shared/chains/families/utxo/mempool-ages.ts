import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'

/** How long unconfirmed transactions have been known. One number for each, while a mempool lists it. */
export interface MempoolAges {
  /** Whether a transaction was listed before. */
  has(txid: string): boolean
  /** Records the transactions of a listing as known from now on. */
  add(txids: Iterable<string>): void
  /** Records that a transaction has been known for at least this long. */
  atLeast(txid: string, ms: number): void
  /**
   * Drops transactions missing from two listings in a row: after the first one the block that contains them may be read, which needs
   * their age.
   */
  keep(listed: ReadonlySet<string>): void
  /** How long the transactions of these transfers have been known, milliseconds by id; without unknown ones. */
  of(transfers: readonly Pick<RawTransfer, 'txHash'>[]): ReadonlyMap<string, number>
}

/** Starts empty. `now` returns monotonic milliseconds. */
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
