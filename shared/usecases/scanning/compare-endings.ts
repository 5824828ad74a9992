import { formatUnits } from '#shared/domain/money/amount.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'
import type { CoinAccount } from '#shared/ports/invoices.ts'
import type { BalanceCheck } from '#shared/ports/native-balances.ts'
import type { BlockRef } from '#shared/ports/scanned-blocks.ts'
import { type BalanceLedger, NodeUnreliable } from '#shared/ports/scanning.ts'
import { assertHeld, type ScanSession } from './scan-session.ts'

/** A deadline waits this long for a node that does not return account balances. */
const PATIENCE_MS = 60_000

/** Invoices whose deadline the next blocks may pass. */
export interface Endings {
  /**
   * Compares the balances of ending invoices' accounts after the newest block with their payments, and opens an exception
   * for an unexplained difference. Called when the payments are stored and before the cursor moves. Repeating it opens nothing
   * twice. Throws `NodeUnreliable` while a node is silent, for a minute.
   */
  compare(last: BlockRef): Promise<void>
}

const NOTHING: Endings = { compare: async () => {} }

/**
 * Coins may arrive outside transactions: validator withdrawals, coinbase tips. On networks without balance
 * scanning, nothing else shows them. Reads the balance of accounts whose invoice is seen for the first time: it includes everything up to the
 * cursor's block, and nobody could pay the invoice before.
 */
export async function openEndings(session: ScanSession): Promise<Endings> {
  const { deps, source, cursor, index } = session
  const ledger = source.client.balances
  if (ledger === undefined || ledger.inUse) {
    // Balances that are compared with each block replace those of the invoices.
    delete session.opened
    return NOTHING
  }
  const rows = await deps.invoices.coinAccounts(source.mode, source.network, cursor.time)
  const waiting = rows.filter(({ matchKey }) => index.has(matchKey))
  session.opened ??= new Set()
  const fresh = waiting.filter(({ invoiceId }) => session.opened?.has(invoiceId) === false)
  if (fresh.length > 0) await readStarts(session, ledger, { fresh, waiting })
  return {
    async compare(last) {
      const ending = waiting.filter(({ expiresAt }) => expiresAt <= last.time)
      if (ending.length === 0) return
      const ends = await readEnds(session, ledger, ending, last)
      await (ends === null ? reportUncompared(session) : compareAll(session, ending, last, ends))
      await forget(
        session,
        ending,
        waiting.filter(({ expiresAt }) => expiresAt > last.time),
      )
    },
  }
}

/** Checks of other invoices than these are dropped: a network that rested may have passed their deadlines without a comparison. */
const checksOf = (checks: readonly BalanceCheck[], matchKey: string, waiting: readonly CoinAccount[]) =>
  checks.filter(({ invoiceId }) => waiting.some((one) => one.matchKey === matchKey && one.invoiceId === invoiceId))

/** Forgets the starts of invoices that ended: a reused address begins with the balance that its next invoice finds. */
async function forget(
  session: ScanSession,
  ended: readonly CoinAccount[],
  waiting: readonly CoinAccount[],
): Promise<void> {
  const { deps, source, lease } = session
  const { mode, network } = source
  const keys = [...new Set(ended.map(({ matchKey }) => matchKey))]
  const stored = new Map((await deps.balances.find(mode, network, keys)).map((one) => [one.matchKey, one.checks]))
  const rows = keys.map((matchKey) => ({ matchKey, checks: checksOf(stored.get(matchKey) ?? [], matchKey, waiting) }))
  assertHeld(session)
  await deps.balances.save(mode, network, rows, lease.epoch)
}

/** Reads and stores the balances at the cursor, one for each invoice. Failed reads are repeated with the next blocks. */
async function readStarts(
  session: ScanSession,
  ledger: BalanceLedger,
  { fresh, waiting }: { readonly fresh: readonly CoinAccount[]; readonly waiting: readonly CoinAccount[] },
): Promise<void> {
  const { deps, source, cursor, lease } = session
  const { height, hash } = cursor
  const keys = [...new Set(fresh.map(({ matchKey }) => matchKey))]
  const found = await deps.balances.find(source.mode, source.network, keys)
  const stored = new Map(found.map(({ matchKey, checks }) => [matchKey, checksOf(checks, matchKey, waiting)]))
  const hasStart = ({ matchKey, invoiceId }: CoinAccount) =>
    stored.get(matchKey)?.some((check) => check.invoiceId === invoiceId) === true
  const unread = fresh.filter((account) => !hasStart(account))
  const unreadKeys = [...new Set(unread.map(({ matchKey }) => matchKey))]
  const balances = unread.length === 0 ? new Map<string, bigint>() : await orNull(() => ledger.read(unreadKeys, cursor))
  if (balances === null) return
  assertHeld(session)
  const accounts = [...balances].map(([matchKey, balanceBase]) => {
    const start = { height, hash, balanceBase, flowBase: 0n, through: { height, hash } }
    const own = unread.filter((account) => account.matchKey === matchKey)
    const checks = own.map(({ invoiceId }): BalanceCheck => ({ ...start, invoiceId }))
    return { matchKey, checks: [...(stored.get(matchKey) ?? []), ...checks] }
  })
  if (accounts.length > 0) await deps.balances.save(source.mode, source.network, accounts, lease.epoch)
  for (const { invoiceId } of fresh) session.opened?.add(invoiceId)
}

/** Null when no node has that state, or a node has been silent for too long. */
async function readEnds(
  session: ScanSession,
  ledger: BalanceLedger,
  ending: readonly CoinAccount[],
  last: BlockRef,
): Promise<ReadonlyMap<string, bigint> | null> {
  const now = session.deps.clock.now()
  try {
    const ends = await ledger.read([...new Set(ending.map(({ matchKey }) => matchKey))], last)
    session.uncomparedSince = null
    return ends
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    session.uncomparedSince ??= now
    if (now - session.uncomparedSince < PATIENCE_MS) throw error
    return null
  }
}

async function compareAll(
  session: ScanSession,
  ending: readonly CoinAccount[],
  last: BlockRef,
  ends: ReadonlyMap<string, bigint>,
): Promise<void> {
  const { deps, source } = session
  const stored = await deps.balances.find(source.mode, source.network, [...ends.keys()])
  const starts = new Map(stored.map(({ matchKey, checks }) => [matchKey, checks]))
  const rows: ExceptionRecord[] = []
  for (const account of ending) {
    // A balance of another invoice would hide what that one was not told of, or ask this one for it.
    const start = starts.get(account.matchKey)?.find(({ invoiceId }) => invoiceId === account.invoiceId)
    const endBase = ends.get(account.matchKey)
    if (start === undefined || endBase === undefined || !(await stands(session, start))) continue
    const paidBase = await paidBetween(session, account, start, last)
    const restBase = endBase - start.balanceBase - start.flowBase - paidBase
    if (restBase > 0n && restBase >= deps.catalog.asset(account.asset).dustBase) {
      rows.push(rowOf(session, account, last, { start, endBase, paidBase, restBase }))
    }
  }
  if (rows.length === 0) return
  await deps.exceptions.openOnce(rows)
  const labels = { mode: source.mode, network: source.network }
  deps.metrics.count('scanner_unexplained_balances_total', labels, rows.length)
}

/** A balance on an abandoned branch is not valid on this one. */
async function stands({ source, cursor }: ScanSession, { height, hash }: BalanceCheck): Promise<boolean> {
  const known = cursor.window.find(([at]) => at === height)?.[1]
  if (known !== undefined) return known === hash
  // If the node no longer returns that block, no deadline waits for it.
  return (await orNull(() => source.client.blockAt(height)))?.hash === hash
}

async function paidBetween(
  { deps, source }: ScanSession,
  { matchKey, asset }: CoinAccount,
  start: BalanceCheck,
  last: BlockRef,
): Promise<bigint> {
  const { mode, network } = source
  const range = { from: start.height + 1, to: last.height }
  const paid = await deps.payments.listInBlocks({ mode, network, asset, matchKeys: [matchKey], ...range })
  return paid.reduce((sum, { amountBase }) => sum + amountBase, 0n)
}

interface Comparison {
  readonly start: BalanceCheck
  readonly endBase: bigint
  readonly paidBase: bigint
  readonly restBase: bigint
}

function rowOf(
  { deps, source }: ScanSession,
  { invoiceId, workspaceId, matchKey, address, asset }: CoinAccount,
  last: BlockRef,
  { start, endBase, paidBase, restBase }: Comparison,
): ExceptionRecord {
  const { decimals, symbol } = deps.catalog.asset(asset)
  const units = (base: bigint) => `${formatUnits(base, decimals)} ${symbol}`
  return {
    id: `unexplained_balance:${source.mode}:${source.network}:${invoiceId}:${matchKey}`,
    kind: 'unexplained_balance',
    workspaceId,
    mode: source.mode,
    invoiceId,
    paymentKey: null,
    detail: `${address} on ${source.network} holds ${units(restBase)} more than payments explain: ${units(start.balanceBase)} at block ${start.height}, ${units(endBase)} at block ${last.height}, ${units(paidBase)} in payments between. Some coins arrive outside transactions, for example validator withdrawals. Compare with a block explorer.`,
    openedAt: deps.clock.now(),
    closedAt: null,
  }
}

/** One exception for the network, for the instance admins. */
async function reportUncompared({ deps, source }: ScanSession): Promise<void> {
  const { mode, network } = source
  await deps.exceptions.openOnce([
    {
      id: `unexplained_balance:${mode}:${network}:not_compared`,
      kind: 'unexplained_balance',
      workspaceId: null,
      mode,
      invoiceId: null,
      paymentKey: null,
      detail: `No node of ${network} (${mode}) returns account balances at the time invoices end. Coins that arrive outside transactions, such as validator withdrawals, are not detected.`,
      openedAt: deps.clock.now(),
      closedAt: null,
    },
  ])
}

async function orNull<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof NodeUnreliable) return null
    throw error
  }
}
