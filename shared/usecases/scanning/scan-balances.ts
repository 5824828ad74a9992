import type { AccountChecks, BalanceCheck } from '#shared/ports/native-balances.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import type { BalanceLedger } from '#shared/ports/scanning.ts'
import { increaseKeyPrefix } from '#shared/usecases/payments/balance-increase-keys.ts'
import type { TransferBlock } from '#shared/usecases/payments/drop-balance-duplicates.ts'
import { type CoinHolder, type PlacedIncrease, placeIncreases } from './balance-increase-transfers.ts'
import { type BlockFlow, findIncreases, flowsOf, netOf, type Reading } from './balance-sheet.ts'
import type { ScanSession } from './scan-session.ts'

/** How long after an invoice's deadline the balance of its address is still read. */
const WATCHED_AFTER_END_MS = 24 * 3_600_000
/** The same while a scanner catches up through blocks whose state is gone: payments in the gap show at its end. */
export const WATCHED_UNREAD_MS = 15 * 24 * 3_600_000

/** Accounts whose balances are tracked, by match key. */
export type CoinAccounts = ReadonlyMap<string, CoinHolder>

/**
 * Accounts at which invoices wait for the network's native coin; none where the ledger shows internal transfers otherwise. Read
 * after the head: an account missing here was shown to no payer before the newest block that will be scanned was made.
 */
export async function coinAccountsOf(session: ScanSession): Promise<CoinAccounts> {
  const { deps, source, cursor, index } = session
  const { mode, network, client } = source
  if (client.balances?.inUse !== true) return new Map()
  const isUnread = session.balancesUnread ?? cursor.status === 'catchup'
  const expiringAfter = cursor.time - (isUnread ? WATCHED_UNREAD_MS : WATCHED_AFTER_END_MS)
  const rows = await deps.invoices.coinAccounts(mode, network, expiringAfter)
  const accounts = new Map<string, CoinHolder>()
  for (const { matchKey, address, asset, invoiceId } of rows) {
    // Transactions are only known of watched addresses, and every issued one is watched.
    if (!index.has(matchKey)) continue
    const invoiceIds = new Set([...(accounts.get(matchKey)?.invoiceIds ?? []), invoiceId])
    accounts.set(matchKey, { address, asset, invoiceIds })
  }
  deps.metrics.gauge('scanner_balance_accounts', accounts.size, { mode, network })
  return accounts
}

/** Scanned blocks with balance increases among their transfers, and the write that stores how far they were checked. */
export interface CheckedBlocks {
  readonly blocks: readonly TransferBlock[]
  /** Durable when it resolves. Called after the payments are and before the cursor moves. Throws `ScannerFenced`. */
  saveChecks(): Promise<void>
}

/**
 * Compares account balances after the blocks that follow the cursor with earlier balances and known transactions. Reads
 * only; the same blocks may be checked any number of times, because stored payments are taken into account. Throws
 * `NodeUnreliable` when a balance is unavailable although its block is there.
 */
export async function checkBalances(
  session: ScanSession,
  blocks: readonly ScannedBlock[],
  accounts: CoinAccounts,
): Promise<CheckedBlocks> {
  const ledger = session.source.client.balances
  const last = blocks.at(-1)
  const isAsked = accounts.size > 0 && blocks.every(({ spending }) => spending !== undefined)
  if (ledger === undefined || last === undefined || !isAsked) return { blocks, saveChecks: async () => {} }
  const starts = await startsOf(session, ledger, [...accounts.keys()])
  const ends = await ledger.read([...accounts.keys()], last)
  session.balancesUnread = ends === null
  const sheets = [...accounts].map(([matchKey, holder]): Sheet => {
    const flows = flowsOf(blocks, matchKey)
    return { matchKey, holder, start: starts.get(matchKey), end: ends?.get(matchKey), flows }
  })
  const increased = sheets.filter(isOpened).filter((sheet) => unexplained(sheet) > 0n)
  report(session, sheets)
  const found = increased.length === 0 ? [] : await locate(session, ledger, blocks, increased)
  return {
    blocks: blocks.map((block) => ({
      ...block,
      transfers: [
        ...block.transfers,
        ...found.filter(({ height }) => height === block.height).map(({ transfer }) => transfer),
      ],
    })),
    saveChecks: () => {
      const { deps, source, lease } = session
      return deps.balances.save(
        source.mode,
        source.network,
        sheets.flatMap((sheet) => nextChecks(sheet, last)),
        lease.epoch,
      )
    },
  }
}

/** One account over the scanned blocks. Without a start its earlier balance is unknown; without an end, its later one. */
interface Sheet {
  readonly matchKey: string
  readonly holder: CoinHolder
  readonly start: BalanceCheck | undefined
  readonly end: bigint | undefined
  readonly flows: readonly BlockFlow[]
}
type OpenedSheet = Sheet & { readonly start: BalanceCheck; readonly end: bigint }

const isOpened = (sheet: Sheet): sheet is OpenedSheet => sheet.start !== undefined && sheet.end !== undefined

const unexplained = ({ start, end, flows }: OpenedSheet): bigint =>
  end - start.balanceBase - start.flowBase - netOf(flows)

/** The checks that are valid up to the cursor's block; if there is none, the balance at that block is one. */
async function startsOf(
  { deps, source, cursor }: ScanSession,
  ledger: BalanceLedger,
  matchKeys: readonly string[],
): Promise<ReadonlyMap<string, BalanceCheck>> {
  const { height, hash } = cursor
  const starts = new Map<string, BalanceCheck>()
  for (const { matchKey, checks } of await deps.balances.find(source.mode, source.network, matchKeys)) {
    const check = checks.findLast(({ through }) => through.height === height && through.hash === hash)
    if (check !== undefined) starts.set(matchKey, check)
  }
  const unknown = matchKeys.filter((matchKey) => !starts.has(matchKey))
  if (unknown.length === 0) return starts
  for (const [matchKey, balanceBase] of (await ledger.read(unknown, { height, hash })) ?? []) {
    starts.set(matchKey, { height, hash, balanceBase, flowBase: 0n, through: { height, hash } })
  }
  return starts
}

/** Two are stored: one of them is right whether or not the cursor moves after this. */
function nextChecks({ matchKey, start, end, flows }: Sheet, last: ScannedBlock): readonly AccountChecks[] {
  const through = { height: last.height, hash: last.hash }
  if (end !== undefined) {
    const check = { ...through, balanceBase: end, flowBase: 0n, through }
    return [{ matchKey, checks: start === undefined ? [check] : [start, check] }]
  }
  if (start === undefined) return []
  return [{ matchKey, checks: [start, { ...start, flowBase: start.flowBase + netOf(flows), through }] }]
}

/** Assigns increases to the blocks in which they happened, as far as the state of these blocks can be read. */
async function locate(
  session: ScanSession,
  ledger: BalanceLedger,
  blocks: readonly ScannedBlock[],
  increased: readonly OpenedSheet[],
): Promise<readonly PlacedIncrease[]> {
  const matchKeys = increased.map(({ matchKey }) => matchKey)
  const states = await Promise.all(
    blocks.slice(0, -1).map(async (block) => ({ block, balances: await ledger.read(matchKeys, block) })),
  )
  const recordedOf = await recordedPayments(session, blocks, increased)
  const placed: PlacedIncrease[] = []
  for (const sheet of increased) {
    const { matchKey, start, end, flows } = sheet
    const inner = states.flatMap(({ block: { height, hash }, balances }): Reading[] => {
      const balanceBase = balances?.get(matchKey)
      return balanceBase === undefined ? [] : [{ height, hash, balanceBase }]
    })
    const last = blocks.slice(-1).map(({ height, hash }) => ({ height, hash, balanceBase: end }))
    const increases = findIncreases(start, [...inner, ...last], flows, recordedOf(sheet))
    placed.push(...(await placeIncreases(session, blocks, sheet, increases)))
  }
  return placed
}

/**
 * Stored payments that explain increases: all payments of these blocks, and of blocks before and after them those detected from
 * balances, which may have been read when fewer blocks could be.
 */
async function recordedPayments(
  session: ScanSession,
  blocks: readonly ScannedBlock[],
  increased: readonly OpenedSheet[],
): Promise<(sheet: OpenedSheet) => readonly Payment[]> {
  const [first] = increased
  if (first === undefined) return () => []
  const { deps, source, cursor } = session
  const { mode, network } = source
  const stored = await deps.payments.listInBlocks({
    mode,
    network,
    asset: first.holder.asset,
    matchKeys: increased.map(({ matchKey }) => matchKey),
    from: Math.min(...increased.map(({ start }) => start.height)) + 1,
    to: Number.MAX_SAFE_INTEGER,
  })
  const end = blocks.at(-1)?.height ?? cursor.height
  const standing = await standingAbove(session, end, stored)
  const hashes = new Set(blocks.map(({ hash }) => hash))
  const scanned = new Set(blocks.flatMap(({ transfers }) => transfers.map(({ key }) => key)))
  return ({ matchKey }) => {
    const prefix = `${increaseKeyPrefix(source, matchKey)}:`
    return stored.filter(({ key, block, ...payment }) => {
      if (payment.matchKey !== matchKey || block === null) return false
      if (block.height <= cursor.height) return key.startsWith(prefix)
      if (block.height > end) return key.startsWith(prefix) && standing.has(block.hash)
      return hashes.has(block.hash) && !scanned.has(key)
    })
  }
}

/** Hashes of blocks above a height that contain payments whose increase began at or below it, as the node has them now. */
async function standingAbove(
  { source }: ScanSession,
  end: number,
  stored: readonly Payment[],
): Promise<ReadonlySet<string>> {
  const blocks = stored.flatMap(({ block }) => (block?.increase !== undefined && block.height > end ? [block] : []))
  const reaching = new Map(
    blocks.filter(({ increase }) => (increase?.since.height ?? end) < end).map((one) => [one.height, one]),
  )
  const found = await Promise.all([...reaching.keys()].map((height) => source.client.blockAt(height)))
  return new Set(found.flatMap((block) => block?.hash ?? []))
}

function report({ deps, source }: ScanSession, sheets: readonly Sheet[]): void {
  const labels = { mode: source.mode, network: source.network }
  const gaps = sheets.filter(({ start, end }) => start === undefined && end !== undefined).length
  const shortfalls = sheets.filter(isOpened).filter((sheet) => unexplained(sheet) < 0n).length
  if (gaps > 0) {
    deps.metrics.count('scanner_balance_gaps_total', labels, gaps)
    deps.logger.warn({ ...labels, accounts: gaps }, 'earlier balances are unknown: no node has that state')
  }
  if (shortfalls > 0) deps.metrics.count('scanner_balance_shortfalls_total', labels, shortfalls)
}
