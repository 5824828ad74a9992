import type { Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ChainCommandRepository } from '#shared/ports/chain-commands.ts'
import type { ExceptionRepository } from '#shared/ports/exceptions.ts'
import type { InvoiceRepository } from '#shared/ports/invoices.ts'
import type { CoinBalanceRepository } from '#shared/ports/native-balances.ts'
import type { PaymentRepository } from '#shared/ports/payments.ts'
import type { ChainClient, ChainCursor, CursorRepository, WatchIndex } from '#shared/ports/scanning.ts'
import type { RecordDeps } from '#shared/usecases/payments/record-payments.ts'
import type { ScanLease } from './scan-lease.ts'
import type { WatchFeedDeps } from './watch-feed.ts'

/** What scanning needs of the outside. */
export interface ScanDeps extends RecordDeps {
  readonly cursors: CursorRepository
  readonly balances: CoinBalanceRepository
  readonly invoices: RecordDeps['invoices'] & Pick<InvoiceRepository, 'coinAccounts'>
  readonly payments: RecordDeps['payments'] & Pick<PaymentRepository, 'listInBlocks'>
  readonly wallets: RecordDeps['wallets'] & WatchFeedDeps['wallets']
  readonly exceptions: RecordDeps['exceptions'] & Pick<ExceptionRepository, 'open' | 'close' | 'report'>
  readonly commands: Pick<ChainCommandRepository, 'listOpen' | 'findById' | 'progress' | 'take' | 'finish'>
}

/** One network in one mode, and how it is read. */
export interface ScanSource {
  readonly mode: Mode
  readonly network: NetworkId
  readonly family: Family
  readonly client: ChainClient
  readonly createIndex: () => WatchIndex
  /** Pause between two looks at the head when there was nothing new, milliseconds. */
  readonly pollMs: number
  /** A reorganisation deeper than this halts the scanner. */
  readonly finalityDepth: number
  /** An unconfirmed payment that the node no longer has counts as gone after this time, milliseconds. */
  readonly dropAfterMs: number
  /** Most blocks read and committed in one step. */
  readonly batchMax: number
  /** True for development chains, which may be replaced by another behind the same URL. */
  readonly development: boolean
}

/** One holder's stay at a network: from taking the lease to losing it. `cursor` is the last one that was committed. */
export interface ScanSession {
  readonly deps: ScanDeps
  readonly source: ScanSource
  readonly lease: ScanLease
  readonly index: WatchIndex
  /** Since when unconfirmed payments are missing from the node's mempool, by transfer key. */
  readonly missingSince: Map<string, number>
  /** Whether the last balances that were asked for could not be read; absent before the first question. */
  balancesUnread?: boolean
  /** Invoices whose account's balance was read when their lock was first seen; absent before the first look. */
  opened?: Set<string>
  /** Since when balances that an invoice's end waits for cannot be read; null and absent when they can. */
  uncomparedSince?: Ms | null
  /** What payments wait for because nodes are silent; null when they do not, absent before anybody looked. */
  silence?: { readonly reason: string; readonly since: number; readonly isReported: boolean } | null
  /** The node's head as it was last read in this session, whatever came of it. */
  head?: { readonly height: number; readonly seenAt: Ms }
  cursor: ChainCursor
}

/** Another process scans this network now, or may: nothing more is written by this session. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** Throws `LeaseLost` unless the lease is ours for certain. Asked directly before each write. */
export function assertHeld(session: ScanSession): void {
  if (!session.lease.isHeld()) throw new LeaseLost('the lease ran out')
}

/**
 * Moves the cursor by compare-and-set on its hash and the lease's epoch. Throws `LeaseLost` when it was moved by
 * somebody else. Everything that the new position stands for must be durable before.
 */
export async function moveCursor(
  session: ScanSession,
  next: Parameters<CursorRepository['advance']>[3],
): Promise<void> {
  assertHeld(session)
  const { mode, network } = session.source
  const expected = { hash: session.cursor.hash, epoch: session.lease.epoch }
  if (!(await session.deps.cursors.advance(mode, network, expected, next))) {
    throw new LeaseLost('the cursor was moved by another holder')
  }
  session.cursor = { ...session.cursor, ...next }
}

/** The scope that payment writes of this session carry. */
export function writeScope(session: ScanSession) {
  const { mode, network } = session.source
  return { mode, network, epoch: session.lease.epoch }
}
