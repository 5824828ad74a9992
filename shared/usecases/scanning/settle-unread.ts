import type { Payment } from '#shared/ports/payments.ts'
import type { LedgerTransfer, ScannedBlock, UnexplainedMove } from '#shared/ports/scanned-blocks.ts'
import { covers, type TransferBlock } from '#shared/usecases/payments/drop-balance-duplicates.ts'
import { type PlacedIncrease, placeIncreases } from './balance-increase-transfers.ts'
import { WATCHED_UNREAD_MS } from './scan-balances.ts'
import type { ScanSession } from './scan-session.ts'
import { type UnexplainedBalance, unexplainedRows } from './unexplained-rows.ts'

/** Scanned blocks with the balance changes of unreadable transactions. */
export interface SettledBlocks {
  readonly blocks: readonly TransferBlock[]
  /** Opens an exception for each affected account. Called after the payments are stored; repeating it opens nothing twice. */
  openRows(): Promise<void>
}

/**
 * Makes payments from the gains of watched accounts in transactions that no node could return: the balance increase in the
 * block, minus readable transactions and stored payments of the block. So a repetition, also with another node that
 * can read the same transactions, finds nothing twice. `found` are the same blocks with all other findings in them.
 */
export async function settleUnread(
  session: ScanSession,
  blocks: readonly ScannedBlock[],
  found: readonly TransferBlock[] = blocks,
): Promise<SettledBlocks> {
  const increases: PlacedIncrease[] = []
  const balances: UnexplainedBalance[] = []
  for (const block of blocks) {
    if (block.unread === undefined) continue
    const { txHashes, method, reason, moved } = block.unread
    const { mode, network } = session.source
    session.deps.logger.warn(
      { mode, network, height: block.height, transactions: txHashes.length, accounts: moved.length, method, reason },
      'a block was read by balances: some of its transactions cannot be read',
    )
    for (const move of moved) {
      const settled = await settleMove(session, block, move)
      increases.push(...settled.increases)
      if (settled.amountBase !== 0n) balances.push({ block, move, txHashes, amountBase: settled.amountBase })
    }
  }
  return {
    blocks: found.map((block) => ({
      ...block,
      transfers: [...block.transfers, ...transfersAt(increases, block.height)],
    })),
    async openRows() {
      if (balances.length === 0) return
      const { deps, source } = session
      await deps.exceptions.openOnce(await unexplainedRows(deps, source, balances))
      deps.metrics.count(
        'scanner_unexplained_balances_total',
        { mode: source.mode, network: source.network },
        balances.length,
      )
    },
  }
}

/**
 * The same blocks with what accounts gained in them beyond their transfers: one payment for each account and block, a function of the chain
 * alone. A block whose state is gone on every node gets none; the difference remains visible to whoever compares balances.
 */
export async function settleIncreases(
  session: ScanSession,
  blocks: readonly ScannedBlock[],
  accounts: ReadonlySet<string>,
): Promise<readonly TransferBlock[]> {
  const { balances: ledger } = session.source.client
  const settled: TransferBlock[] = []
  for (const block of blocks) {
    const mayGain = ledger !== undefined && block.spending !== undefined
    const moves = mayGain ? ((await ledger.increases(block, [...accounts])) ?? []) : []
    const increases: PlacedIncrease[] = []
    for (const move of moves) increases.push(...(await settleMove(session, block, move)).increases)
    settled.push({ ...block, transfers: [...block.transfers, ...transfersAt(increases, block.height)] })
  }
  return settled
}

const transfersAt = (increases: readonly PlacedIncrease[], at: number): readonly LedgerTransfer[] =>
  increases.filter(({ height }) => height === at).map(({ transfer }) => transfer)

interface SettledMove {
  readonly increases: readonly PlacedIncrease[]
  /** The part visible only in the balance, stored by now or not; negative when the account lost it. */
  readonly amountBase: bigint
}

async function settleMove(session: ScanSession, block: ScannedBlock, move: UnexplainedMove): Promise<SettledMove> {
  const { matchKey, beforeBase, afterBase, knownBase, feesBase } = move
  const recorded = await recordedPayments(session, block, move)
  if (recorded === 'wider') return { increases: [], amountBase: 0n }
  const byBalance = recorded.filter(({ block: at }) => at?.increase !== undefined)
  const sum = (payments: readonly Payment[]) => payments.reduce((total, { amountBase }) => total + amountBase, 0n)
  const restBase = afterBase - beforeBase - knownBase - sum(recorded)
  const amountBase = restBase + sum(byBalance)
  // A remainder within the account's own fees is a miscounted fee.
  if (restBase <= feesBase) return { increases: [], amountBase: restBase > 0n ? sum(byBalance) : amountBase }
  const since = { height: block.height - 1, hash: block.parentHash }
  const increase = { since, beforeBase: beforeBase.toString(), afterBase: afterBase.toString() }
  const holder = { address: move.address, asset: move.asset, invoiceIds: await waitingAt(session, matchKey) }
  const found = [{ height: block.height, amountBase: restBase, increase }]
  return { increases: await placeIncreases(session, [block], { matchKey, holder }, found), amountBase }
}

/** Stored payments of the block to the account that were not just read; `wider`: one that sums up more blocks explains all. */
async function recordedPayments(
  { deps, source }: ScanSession,
  block: ScannedBlock,
  { matchKey, asset }: UnexplainedMove,
): Promise<readonly Payment[] | 'wider'> {
  const { mode, network } = source
  const scope = { mode, network, asset, matchKeys: [matchKey], from: block.height, to: Number.MAX_SAFE_INTEGER }
  const stored = await deps.payments.listInBlocks(scope)
  for (const payment of stored) {
    const { block: at } = payment
    if (at?.increase === undefined || at.height === block.height || !covers(payment, block.height)) continue
    if ((await source.client.blockAt(at.height))?.hash === at.hash) return 'wider'
  }
  const read = new Set(block.transfers.map(({ key }) => key))
  return stored.filter((payment) => payment.block?.hash === block.hash && !read.has(payment.key))
}

/** Invoices that wait for the coin at an account, so that a payment whose block was replaced gets its key back. */
async function waitingAt({ deps, source, cursor }: ScanSession, matchKey: string): Promise<ReadonlySet<string>> {
  const rows = await deps.invoices.coinAccounts(source.mode, source.network, cursor.time - WATCHED_UNREAD_MS)
  return new Set(rows.filter((row) => row.matchKey === matchKey).map(({ invoiceId }) => invoiceId))
}
