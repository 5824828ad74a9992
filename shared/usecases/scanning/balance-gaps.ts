import { networkRow } from '#shared/usecases/networks/network-row.ts'
import type { ScanSession } from './scan-session.ts'

const KIND = 'unexplained_balance'

/** Blocks, first and last, in which no node can show what reached some accounts outside of direct transfers. */
export interface BalanceGap {
  readonly from: number
  readonly to: number
  /** How many accounts. */
  readonly accounts: number
}

/** Counts a gap. */
export function countGap({ deps, source }: ScanSession, { from, to, accounts }: BalanceGap): void {
  const labels = { mode: source.mode, network: source.network }
  deps.metrics.count('scanner_balance_gaps_total', labels, accounts)
  deps.logger.warn({ ...labels, from, to, accounts }, 'earlier balances are unknown: no node has that state')
}

/** Counts a gap and opens one exception for the instance admins. Repeating it opens nothing twice. */
export async function reportGap(session: ScanSession, gap: BalanceGap): Promise<void> {
  const { deps, source } = session
  const { from, to, accounts } = gap
  countGap(session, gap)
  const detail = `No node of ${source.network} (${source.mode}) has the balances of ${accounts} ${accounts === 1 ? 'address' : 'addresses'} before block ${from} any more. Coins that contracts paid to them in blocks ${from} to ${to} are not detected; direct transfers and tokens are. Compare with a block explorer, or add an archive node and read the blocks again.`
  await deps.exceptions.openOnce([networkRow(session, KIND, `gap:${from}:${to}`, detail)])
}

/** Opens one exception for the instance admins: looks cannot compare some addresses, because no node remembers balances for so long. */
export async function reportUnseen(session: ScanSession): Promise<void> {
  const { mode, network } = session.source
  const detail = `No node of ${network} (${mode}) has the balances of the last look any more, and some addresses without an open invoice are listed, or gained or spent more than their payments say. Coins that contracts pay to them are not detected; direct transfers and tokens are. Add a node that keeps older balances.`
  await session.deps.exceptions.openOnce([networkRow(session, KIND, 'looks_not_compared', detail)])
}

/** Opens one exception for the instance admins: no node answers for balances, so blocks pass with their transactions and logs alone. */
export async function reportUnread(session: ScanSession): Promise<void> {
  const { mode, network } = session.source
  const detail = `No node of ${network} (${mode}) returns account balances. Coins that contracts pay, or that arrive outside transactions, are not detected until one does; then their sum is.`
  await session.deps.exceptions.openOnce([networkRow(session, KIND, 'not_compared', detail)])
}
