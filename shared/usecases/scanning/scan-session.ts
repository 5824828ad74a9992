import type { CursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import type { Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { BlockPlace } from '#shared/ports/account-reader.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { Pulse } from '#shared/ports/runtime.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import type { ChainClient, WatchIndex } from '#shared/ports/scanning.ts'
import { scannedTime } from '#shared/usecases/networks/known-until.ts'
import { measureMove, UNMEASURED } from '#shared/usecases/networks/measure-chain.ts'
import type { RecordDeps } from '#shared/usecases/payments/record-payments.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { ScanLease } from './scan-lease.ts'
import type { LookPace, LookProgress, ThriftyPace, ThriftyState } from './thrifty-pace.ts'

/** Dependencies of scanning. */
export type ScanDeps = RecordDeps &
  Uses<'cursors' | 'balances' | 'invoices' | 'payments' | 'wallets' | 'marks' | 'exceptions' | 'commands'>

/** One network in one mode, and how to read it. */
export interface ScanSource {
  readonly mode: Mode
  readonly network: NetworkId
  readonly family: Family
  readonly client: ChainClient
  readonly createIndex: () => WatchIndex
  /** Reads only blocks that open invoices need, at this pace; absent: reads every block. */
  readonly thrifty?: ThriftyPace
  /** How often addresses without an open invoice are looked at where every block is read; absent: never. */
  readonly looks?: LookPace
  /** Pause between two polls of the head when there was nothing new, milliseconds. */
  readonly pollMs: number
  /** A reorganisation deeper than this halts the scanner. */
  readonly finalityDepth: number
  /** An unconfirmed payment that is missing from the node counts as dropped after this time, milliseconds. */
  readonly dropAfterMs: number
  /** Most blocks read and committed in one step. */
  readonly batchMax: number
  /** True for development chains, which may be replaced by another behind the same URL. */
  readonly development: boolean
}

/** What a search found: transfers to store, and a sentence for people. */
export interface SearchResult {
  readonly blocks: readonly ScannedBlock[]
  readonly words: (stored: number) => string
}

/** The search for what is still unspent of skipped blocks. It may take minutes, and blocks are read meanwhile. */
export interface UnspentSearch {
  readonly command: string
  result: SearchResult | null
}

/** One holder's session on a network: from taking the lease to losing it. `cursor` is the last one committed. */
export interface ScanSession {
  readonly deps: ScanDeps
  /** At the chain's measured pace, as of the current step. */
  source: ScanSource
  readonly lease: ScanLease
  readonly index: WatchIndex
  /** Shows that a step makes progress: one of many requests to a slow node takes longer than a loop may be silent. */
  readonly pulse?: Pick<Pulse, 'beat'> | undefined
  /** Start time of the absence of unconfirmed payments from the node's mempool, by transfer key. */
  readonly missingSince: Map<string, number>
  /** When nodes last could not confirm payments that wait, by key; absent before the first confirmation. */
  doubts?: Map<string, Ms>
  /** Whether the last balance request failed; absent before the first one. */
  balancesUnread?: boolean
  /** Whether deadlines wait because no node has the balances of the blocks that were read last, and for no proof; absent before the first. */
  isHeldWhileGone?: boolean
  /** How many uninterrupted comparisons of balances this session began; absent before the first. */
  comparisons?: number
  /** What the compared accounts had at the last block of the last one, as it is stored; absent before the first, and after a move without a comparison. */
  compared?:
    | { readonly ends: ReadonlyMap<string, bigint | undefined>; readonly height: number; readonly hash: string }
    | undefined
  /** Since when nodes fail to answer for balances; null or absent when they do not. */
  balancesFailSince?: Ms | null
  /** Why payments wait while nodes are silent; null when none wait, absent before the first check. */
  missedReason?: string | null
  /** Hosts of the nodes that decisions are made without, as the inbox names them; absent before the first check. */
  unheard?: string
  /** The node's head as last read in this session, whatever followed. */
  head?: { readonly height: number; readonly seenAt: Ms }
  /** When the node was last asked for its tokens; absent before the first question. */
  tokensLookedAt?: Ms
  /** What thrifty scanning remembers; absent before its first step, and in full scanning. */
  thrifty?: ThriftyState
  /** Why deadlines that were read are not proven; null or absent when none waits for a proof. */
  unprovenReason?: string | null
  /** Since when; absent when none waits. */
  unprovenSince?: Ms | undefined
  /** For the deadlines that wait, blocks above `since` up to this one were read in full. */
  provenWhole?: (Pick<BlockPlace, 'height' | 'hash'> & { readonly since: number }) | undefined
  /** How far the looks back of deadlines have come for each account, which one step may not finish. */
  proving?: Map<string, BlockPlace> | undefined
  /** Blocks, by height, that do not have what some node's logs show there; absent when no proof and no look goes on. */
  withoutLogged?: Map<number, string> | undefined
  /** Watches whose figures at the cursor were stored when they were first read, as `<match key>:<invoice id>`; absent before the first. */
  started?: Set<string>
  /** Accounts whose code is in the inbox, as far as this session saw; absent before the first. */
  withCode?: Set<string>
  /** No look at balances before this moment: the last one failed. */
  lookAfter?: Ms
  /** When a look first and last failed because no node has one of its blocks any more; absent since it got further. */
  lookGone?: { readonly since: Ms; readonly lastAt: Ms } | undefined
  /** Blocks that looks and proofs may still read in full today because of derived addresses; absent before the first. */
  wholeBlocks?: { readonly left: number; readonly since: Ms }
  /** Height at which a look first saw money above the cursor, by the exception that it would open; absent before the first. */
  lookObservations?: Map<string, number>
  /** A look at balances that takes several steps; absent between two. */
  looking?: LookProgress | undefined
  /** Until when somebody is watching a page of this network. Shared by the sessions of one scanner. */
  readonly attention?: { readonly until: Ms }
  /** The search of a skip that is under way; absent when none is. */
  searching?: UnspentSearch | undefined
  /** Unconfirmed payments as of this session's last write, and when they were read; absent when they have to be read. */
  unconfirmed?: { readonly readAt: Ms; readonly payments: Map<string, Payment> } | undefined
  cursor: ChainCursor
}

/** Another process scans this network, or may: this session writes nothing more. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** Throws `LeaseLost` unless the lease is certainly held. Called directly before each write. */
export function assertHeld(session: ScanSession): void {
  if (!session.lease.isHeld()) throw new LeaseLost('the lease expired')
}

/**
 * Moves the cursor by compare-and-set on its hash and the lease's epoch. Throws `LeaseLost` when it was moved by
 * another holder. Everything that the new position implies must be durable before. What the move shows of the chain's pace goes with it.
 */
export async function moveCursor(
  session: ScanSession,
  next: Parameters<CursorRepository['advance']>[3],
): Promise<void> {
  assertHeld(session)
  const { mode, network } = session.source
  const expected = { hash: session.cursor.hash, epoch: session.lease.epoch }
  const before = next.measured ?? session.cursor.measured ?? UNMEASURED
  const measured = measureMove(before, next, session.deps.clock.now())
  const change = { ...next, ...(measured !== session.cursor.measured && { measured }) }
  if (!(await session.deps.cursors.advance(mode, network, expected, change))) {
    throw new LeaseLost('the cursor was moved by another holder')
  }
  // Where the cursor comes back to a block, payments of it may have been taken back since.
  if (next.hash !== undefined && next.compared === undefined) session.compared = undefined
  session.cursor = { ...session.cursor, ...change }
}

/** From here on no deadline passes before it is proven: money of blocks up to the cursor may not be stored. Throws `LeaseLost`. */
export async function doubtDeadlines(session: ScanSession): Promise<void> {
  session.isHeldWhileGone = false
  const change = doubting(session.cursor, session.cursor.time)
  if (Object.keys(change).length > 0) await moveCursor(session, change)
}

/**
 * Cursor fields with which deadlines from this time on wait for a proof, and at the latest those after the last reading: times of blocks may be in
 * the future. Empty when they do already. Pure.
 */
export function doubting({ unproven, advancedAt }: ChainCursor, time: Ms): Pick<ChainCursor, 'unproven'> {
  const from = scannedTime({ time, ...(advancedAt !== undefined && { advancedAt }) })
  return unproven != null && unproven <= from ? {} : { unproven: from }
}

/** The scope of this session's payment writes. */
export function writeScope(session: ScanSession) {
  const { mode, network } = session.source
  return { mode, network, epoch: session.lease.epoch }
}
