import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import { type IdList, nextTurn, ownText, visitIds } from './id-list.ts'

/** Entries compared in one turn of the event loop. */
const ENTRIES_PER_TURN = 10_000

/** One unconfirmed transaction; the node bounds how many it lists. */
interface Entry {
  /** Since when it is known, monotonic milliseconds. */
  since: number
  /** Number of the newest listing that has it. */
  listedIn: number
  isRead: boolean
}

/** Which transactions a mempool lists, which of them were read, and how long they have been known. */
export interface MempoolListing {
  /**
   * Compares a listing with the one before, in turns of the event loop; only what came and went costs more than a look-up. While the node is
   * `loading`, what is missing stays as it was: it will be there in a moment, and another node may have it now. Otherwise it is unread at once,
   * and forgotten when the next listing lacks it as well: the block that contains it may be read in between, which needs its age.
   */
  take(ids: IdList, loading: boolean): Promise<void>
  /** Whether the newest listing has it. */
  has(txid: string): boolean
  /** Whether it was read and is neither missing nor to be read again. */
  isRead(txid: string): boolean
  /** Up to `limit` listed ones that are not read and that `rests` does not hold back: those of the newest listing first. */
  unread(limit: number, rests: (txid: string) => boolean): readonly string[]
  markRead(txid: string): void
  /** Everything is to be read again. */
  unreadAll(): Promise<void>
  /** Records that a transaction has been known for at least this long. */
  atLeast(txid: string, ms: number): void
  /** How long the transactions of these transfers have been known, milliseconds by id; without unknown ones. */
  agesOf(transfers: readonly Pick<RawTransfer, 'txHash'>[]): ReadonlyMap<string, number>
}

/** Starts empty. `now` returns monotonic milliseconds. */
export function createMempoolListing(now: () => number = () => performance.now()): MempoolListing {
  const entries = new Map<string, Entry>()
  /** Listed and not read. */
  const unread = new Set<string>()
  let fresh = new Set<string>()
  /** Numbers of the last listings: of the newest that was begun, the newest that was read to its end, and the one before that. */
  let begun = 0
  let newest = 0
  let former = 0

  function forget(txid: string, entry: Entry): void {
    if (entry.listedIn === newest) return
    entry.isRead = false
    unread.delete(txid)
    if (entry.listedIn < former) entries.delete(txid)
  }

  return {
    async take(ids, loading) {
      begun += 1
      fresh = new Set()
      const at = now()
      let listed = 0
      await visitIds(ids, (txid) => {
        const entry = entries.get(txid)
        if (entry === undefined) {
          const own = ownText(txid)
          entries.set(own, { since: at, listedIn: begun, isRead: false })
          unread.add(own)
          fresh.add(own)
          listed += 1
          return
        }
        if (entry.listedIn !== begun) listed += 1
        entry.listedIn = begun
        if (!entry.isRead && !unread.has(txid)) unread.add(ownText(txid))
      })
      former = newest
      newest = begun
      if (!loading && listed < entries.size) await eachEntry(entries, forget)
    },
    has: (txid) => entries.get(txid)?.listedIn === newest,
    isRead: (txid) => entries.get(txid)?.isRead === true,
    unread(limit, rests) {
      const chosen = new Set<string>()
      for (const candidates of [fresh, unread]) {
        for (const txid of candidates) {
          if (chosen.size >= limit) break
          if (unread.has(txid) && !rests(txid)) chosen.add(txid)
        }
      }
      return [...chosen]
    },
    markRead(txid) {
      const entry = entries.get(txid)
      if (entry !== undefined) entry.isRead = true
      unread.delete(txid)
    },
    unreadAll: () =>
      eachEntry(entries, (txid, entry) => {
        entry.isRead = false
        if (entry.listedIn === newest) unread.add(txid)
      }),
    atLeast(txid, ms) {
      const entry = entries.get(txid)
      if (entry !== undefined) entry.since = Math.min(entry.since, now() - Math.max(0, ms))
    },
    agesOf(transfers) {
      const at = now()
      const known = transfers.flatMap(({ txHash }) => {
        const entry = entries.get(txHash)
        return entry === undefined ? [] : [[txHash, at - entry.since] as const]
      })
      return new Map(known)
    },
  }
}

async function eachEntry(
  entries: ReadonlyMap<string, Entry>,
  visit: (txid: string, entry: Entry) => void,
): Promise<void> {
  let left = ENTRIES_PER_TURN
  for (const [txid, entry] of entries) {
    visit(txid, entry)
    left -= 1
    if (left > 0) continue
    left = ENTRIES_PER_TURN
    await nextTurn()
  }
}
