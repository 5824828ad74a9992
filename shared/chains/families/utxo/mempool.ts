import type { MempoolView, RawTransfer } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable, type WatchIndex } from '#shared/ports/scanning.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import type { CoreNode } from './core-rpc.ts'
import { hashText } from './double-sha256.ts'
import { type ExtractScope, spendersAmong, transactionTransfers } from './extract.ts'
import { createMempoolListing, type MempoolListing } from './mempool-listing.ts'
import type { LoadNode } from './mempool-load.ts'
import { outpointsByWire } from './outpoint.ts'
import { type ParsedTransaction, parseTransaction } from './parse-transaction.ts'

/** Transactions requested at the same time. */
const CONCURRENCY = 8
/** Time limit of one poll, milliseconds: blocks wait for it. A full Bitcoin mempool takes several polls after a start. */
const POLL_MS = 3_000
/** Transactions requested in one poll at most: more than a node gives in its time. */
const READS_MAX = 20_000
/** Pause before a transaction that the node did not give is requested again, milliseconds. */
const RETRY_MS = 10_000
/** How long deadlines wait for such a transaction, milliseconds: a stranger can send one at any time. A block or another node shows it later. */
const UNREAD_MAX_MS = 600_000
/** When so many requests fail for the first time in one poll and none succeeds, the node is at fault. */
const FAULTS_MAX = 8

/** The part of a node that is used here. */
type MempoolNode = Pick<CoreNode, 'mempoolIds' | 'mempoolTransaction' | 'mempoolEntryTime' | 'traffic'> & LoadNode

/** Reads nodes' unconfirmed transactions. */
export interface MempoolReader {
  /**
   * Each of them once, while it stays in the mempool, the newest first; the rest is left to the next
   * poll.
   */
  read(node: MempoolNode, watches: WatchIndex, outpoints: ReadonlySet<string>): Promise<MempoolView>
  /** How long the transactions of these transfers have been known, milliseconds by id; without those that were in no mempool. */
  agesMs(transfers: readonly RawTransfer[]): ReadonlyMap<string, number>
}

/**
 * Stores one entry per unconfirmed transaction (the node itself bounds their number) and the transfers to watched
 * scripts; a listing is compared with the one before, in turns of the event loop. Litecoin's fully confidential transactions show no outputs, so their payments are visible only once mined.
 */
export function createMempoolReader(
  scope: ExtractScope,
  isLoaded: (node: LoadNode) => Promise<boolean>,
  lookMs: number = POLL_MS,
): MempoolReader {
  const matched = new Map<string, readonly RawTransfer[]>()
  const spenders = new Map<string, string>()
  const listing = createMempoolListing()
  const unread = createUnread()
  let index: WatchIndex | null = null

  /** Drops transactions that were mined, replaced or evicted, and everything when other addresses are watched. */
  async function list(node: MempoolNode, watches: WatchIndex, loading: boolean): Promise<void> {
    if (index !== watches) await listing.unreadAll()
    index = watches
    await listing.take(await node.mempoolIds(), loading)
    // A node that is still loading its mempool will have missing transactions in a moment, and another node may have them now.
    if (!loading) unread.keep(listing.has)
    for (const txid of matched.keys()) if (!listing.isRead(txid)) matched.delete(txid)
    for (const [outpoint, txid] of spenders) if (!listing.isRead(txid)) spenders.delete(outpoint)
  }

  /** Reads one transaction. One that is gone by now is requested again when it is listed again. */
  async function look(node: MempoolNode, txid: string, watches: WatchIndex, outpoints: ReadonlyMap<string, string>) {
    const transaction = await read(node, txid)
    if (transaction === 'gone') return
    const transfers = transaction === null ? [] : transactionTransfers(scope, transaction, watches, null)
    if (transfers.length > 0) {
      await noteEntry(node, txid, listing)
      matched.set(txid, transfers)
    }
    listing.markRead(txid)
    if (transaction === null) return
    for (const [outpoint, spender] of spendersAmong([transaction], outpoints)) spenders.set(outpoint, spender)
  }

  return {
    agesMs: (transfers) => listing.agesOf(transfers),
    async read(node, watches, outpoints) {
      const loading = !(await isLoaded(node))
      await list(node, watches, loading)
      const byWire = outpointsByWire(outpoints)
      const ordered = listing.unread(READS_MAX, unread.rests)
      const until = performance.now() + lookMs
      const poll = { partial: ordered.length === READS_MAX, succeeded: 0, failures: [] as RpcFailure[] }
      let isOver = false
      await mapConcurrently(ordered, CONCURRENCY, async (txid) => {
        isOver ||= performance.now() >= until
        if (isOver) {
          poll.partial = true
          return
        }
        try {
          await look(node, txid, watches, byWire)
          poll.succeeded += 1
          unread.forget(txid)
        } catch (error) {
          if (!(error instanceof RpcFailure)) throw error
          // One that failed before says nothing about the node.
          if (unread.note(txid, error) || isOfNode(error)) poll.failures.push(error)
          isOver ||= isOfNode(error)
          poll.partial ||= isOver
        }
      })
      const [failure] = poll.failures
      const isNodeAtFault = poll.failures.some(isOfNode) || poll.failures.length >= FAULTS_MAX
      if (failure !== undefined && poll.succeeded === 0 && isNodeAtFault) throw failure
      const partial = poll.partial || unread.isAwaited()
      const transfers = [...matched].flatMap(([txid, found]) => (listing.has(txid) ? found : []))
      // A watched transaction was read before its outpoints could be requested.
      for (const { spends = [], txHash } of transfers) {
        for (const outpoint of spends) if (outpoints.has(outpoint)) spenders.set(outpoint, txHash)
      }
      const spent = new Map([...spenders].filter(([outpoint, txid]) => outpoints.has(outpoint) && listing.has(txid)))
      const agesMs = listing.agesOf(transfers)
      return { partial, unread: unread.sentence(), loading, transfers, txids: listing, spent, agesMs }
    },
  }
}

/** Reads since when a node has had a transaction, by its own clock: also from before its restart. */
async function noteEntry(node: MempoolNode, txid: string, listing: MempoolListing): Promise<void> {
  const enteredAt = await node.mempoolEntryTime(txid)
  const traffic = enteredAt === null ? null : await node.traffic()
  if (enteredAt !== null && traffic !== null) listing.atLeast(txid, traffic.nowMs - enteredAt)
}

async function read(node: MempoolNode, txid: string): Promise<ParsedTransaction | 'gone' | null> {
  const bytes = await node.mempoolTransaction(txid)
  if (bytes === null) return 'gone'
  const transaction = parsed(bytes)
  if (transaction !== null && hashText(transaction.hash) !== txid) {
    throw new NodeUnreliable('the node gave another transaction than the one asked for')
  }
  return transaction
}

function parsed(bytes: Buffer): ParsedTransaction | null {
  try {
    return parseTransaction(bytes)
  } catch (cause) {
    throw new RpcFailure('unclear', 'its bytes cannot be read', { cause })
  }
}

/** Whether the next request would fail as well. */
const isOfNode = ({ kind, isSilent }: RpcFailure): boolean => kind === 'rate' || isSilent

/**
 * Transactions that the node lists and does not give. They are awaited for ten minutes from when there was none: a stranger who sends the next one
 * gains no time.
 */
function createUnread(now: () => number = () => performance.now()) {
  const failed = new Map<string, { readonly retryAt: number; readonly reason: string }>()
  let since = now()
  return {
    rests: (txid: string): boolean => (failed.get(txid)?.retryAt ?? 0) > now(),
    /** Returns whether it is the first failure of this one. */
    note(txid: string, { message: reason }: RpcFailure): boolean {
      if (failed.size === 0) since = now()
      const isFirst = !failed.has(txid)
      failed.set(txid, { retryAt: now() + RETRY_MS, reason })
      return isFirst
    },
    forget: (txid: string): boolean => failed.delete(txid),
    keep(isListed: (txid: string) => boolean): void {
      for (const txid of failed.keys()) if (!isListed(txid)) failed.delete(txid)
    },
    isAwaited: (): boolean => failed.size > 0 && now() - since < UNREAD_MAX_MS,
    /** Names the one that was unread first; null when there is none. */
    sentence(): string | null {
      const [first] = [...failed]
      if (first === undefined) return null
      const others = failed.size === 1 ? '' : ` and ${failed.size - 1} others`
      return `The node does not give the unconfirmed transaction ${first[0]}${others}: ${first[1].reason}.`
    },
  }
}
