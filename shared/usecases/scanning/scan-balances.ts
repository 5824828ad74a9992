import { type Holdings, hasCode, isRead } from '#shared/ports/account-reader.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import type { AccountChecks, BalanceCheck } from '#shared/ports/native-balances.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { ScannedBlock, TransferBlock } from '#shared/ports/scanned-blocks.ts'
import { type BalanceLedger, NodeUnreliable } from '#shared/ports/scanning.ts'
import { scannedTime } from '#shared/usecases/networks/known-until.ts'
import { isRereading } from '#shared/usecases/networks/network-lag.ts'
import { increaseKeyPrefix } from '#shared/usecases/payments/balance-increase-keys.ts'
import { countGap, reportGap, reportUnread } from './balance-gaps.ts'
import {
  type PlacedIncrease,
  placeIncreases,
  WATCHED_AFTER_END_MS,
  withIncreases,
} from './balance-increase-transfers.ts'
import { type BlockFlow, type FoundIncrease, findIncreases, flowsIn, netOf, type Reading } from './balance-sheet.ts'
import { readBalanceChanges } from './read-balance-changes.ts'
import { doubtDeadlines, type ScanSession } from './scan-session.ts'
import { settleIncreases } from './settle-increases.ts'
import { earliestSince } from './thrifty-reads.ts'

/** As `WATCHED_AFTER_END_MS`, while a scanner catches up through blocks whose state is gone: payments in the gap show at its end. */
const WATCHED_UNREAD_MS = 15 * 24 * 3_600_000
/** A failing node delays balances, and with them deadlines, for this long. */
const PATIENCE_MS = 60_000

/** Accounts whose coin balances are compared with their payments, as match keys. */
export type CoinAccounts = ReadonlySet<string>

/**
 * Accounts of all payment methods on the network until a day after their invoice's deadline, whatever asset they ask for: a payer may send
 * coins from a contract for any of them. None where transactions and logs show every transfer. Read after the head: an account missing here was
 * shown to no payer before the newest block that will be scanned was made.
 */
export async function coinAccountsOf(session: ScanSession): Promise<CoinAccounts> {
  const { deps, source, cursor, index } = session
  const { mode, network, client } = source
  if (client.balances === undefined) return new Set()
  const isUnread = session.balancesUnread ?? cursor.status === 'catchup'
  const expiringAfter = scannedTime(cursor) - (isUnread ? WATCHED_UNREAD_MS : WATCHED_AFTER_END_MS)
  const all = await deps.invoices.watchedMethods(mode, network, expiringAfter)
  // Where figures choose the blocks, looks read those of ended invoices. Blocks behind a fork are all read: invoices whose payments were in the
  // replaced ones open again only later.
  const isWhole = source.thrifty === undefined || isRereading(cursor)
  const rows = isWhole ? all : all.filter(({ isOpen }) => isOpen)
  // Transactions are only known of watched addresses, and every issued one is watched.
  const accounts = new Set(rows.flatMap(({ matchKey }) => (index.has(matchKey) ? [matchKey] : [])))
  deps.metrics.gauge('scanner_balance_accounts', accounts.size, { mode, network })
  return accounts
}

/** Figures of accounts at the end of blocks, by hash, as a node gave them for exactly that block: the coin first, behind them whether there is code. */
export type FiguresOfBlocks = ReadonlyMap<string, Holdings>

/** The ledger, which requests no balance that was read already. */
function withFigures(ledger: BalanceLedger | undefined, figures: FiguresOfBlocks): BalanceLedger | undefined {
  if (ledger === undefined || figures.size === 0) return ledger
  return {
    ...ledger,
    async read(matchKeys, block) {
      const known = matchKeys.map((matchKey) => [matchKey, figures.get(block.hash)?.get(matchKey) ?? []] as const)
      const coins = known.flatMap(([matchKey, [coin]]): [string, bigint][] =>
        coin !== undefined && isRead(coin) ? [[matchKey, coin]] : [],
      )
      if (coins.length < matchKeys.length) return ledger.read(matchKeys, block)
      const withCode = new Set(known.flatMap(([matchKey, own]) => (hasCode(own) ? matchKey : [])))
      return Object.assign(new Map(coins), { withCode })
    },
  }
}

/** Scanned blocks with balance increases among their transfers, and the write that stores how far they were checked. */
export interface CheckedBlocks {
  readonly blocks: readonly TransferBlock[]
  /** No node has the balances of the last of them any more: what came in inside of calls shows in later ones. */
  readonly isGone?: boolean
  /** Durable when it resolves, together with the cursor fields that it returns. Called after the payments are and before the cursor moves. Throws `ScannerFenced`. */
  saveChecks(): Promise<Pick<ChainCursor, 'compared'>>
}

/**
 * Compares account balances after the blocks that follow the cursor with earlier balances and known transactions. The same blocks may be
 * checked any number of times, because stored payments are taken into account. Throws `NodeUnreliable` while nodes fail to answer for the
 * balances of a block that is there; after a minute of that, the blocks pass with their known transactions, the inbox says so, and the next
 * balance that can be read shows the sum.
 */
export async function checkBalances(
  session: ScanSession,
  blocks: readonly ScannedBlock[],
  accounts: CoinAccounts,
  figures: FiguresOfBlocks = new Map(),
): Promise<CheckedBlocks> {
  const ledger = withFigures(session.source.client.balances, figures)
  const last = blocks.at(-1)
  if (ledger === undefined || last === undefined || accounts.size === 0) return { blocks, saveChecks: async () => ({}) }
  try {
    const checked = await compareBalances(session, { ledger, blocks, last, accounts })
    session.balancesFailSince = null
    return checked
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    const now = session.deps.clock.now()
    session.balancesFailSince ??= now
    if (now - session.balancesFailSince < PATIENCE_MS) throw error
    return passUnread(session, { blocks, last, accounts })
  }
}

interface Comparison {
  readonly ledger: BalanceLedger
  readonly blocks: readonly ScannedBlock[]
  /** The last of the blocks. */
  readonly last: ScannedBlock
  readonly accounts: CoinAccounts
}

/**
 * Known transactions are added to the stored balances, as where no node has the state any more. What an account without a stored balance had
 * before these blocks stays unknown, which `nextChecks` notes.
 */
async function passUnread(
  session: ScanSession,
  { blocks, last, accounts }: Omit<Comparison, 'ledger'>,
): Promise<CheckedBlocks> {
  if (session.balancesUnread !== true) await reportUnread(session)
  session.balancesUnread = true
  const { starts } = await storedStarts(session, [...accounts])
  const flowsOf = flowsIn(blocks)
  const sheets = [...accounts].map((matchKey): Sheet => {
    return { matchKey, start: starts.get(matchKey), end: undefined, flows: flowsOf(matchKey) }
  })
  return { blocks, saveChecks: () => saveUnread(session, sheets, last) }
}

async function compareBalances(
  session: ScanSession,
  { ledger, blocks, last, accounts }: Comparison,
): Promise<CheckedBlocks> {
  const { starts, broken, stored } = await startsOf(session, ledger, [...accounts])
  const ends = await ledger.read([...accounts], last)
  session.balancesUnread = ends === null
  // From here on nothing shows any more that their earlier balances are missing.
  const isBroken = broken.some((matchKey) => starts.has(matchKey) || ends?.has(matchKey) === true)
  if (isBroken) await doubtDeadlines(session)
  const flowsOf = flowsIn(blocks)
  const sheets = [...accounts].map((matchKey): Sheet => {
    return { matchKey, start: starts.get(matchKey), end: ends?.get(matchKey), flows: flowsOf(matchKey) }
  })
  // Also where coins are missing: a contract that pays out more than it received in these blocks was paid all the same, and one that paid out as
  // much as it received shows that in single blocks alone.
  const mayHavePassedOn = ({ matchKey }: Sheet) => blocks.length > 1 && ends?.withCode.has(matchKey) === true
  const moved = sheets.filter(isOpened).filter((sheet) => unexplained(sheet) !== 0n || mayHavePassedOn(sheet))
  await report(session, sheets, last)
  if (ends === null) return { blocks, isGone: true, saveChecks: () => saveUnread(session, sheets, last) }
  const saveChecks = () => saveChanges(session, sheets, stored, last)
  if (moved.length === 0) return { blocks, saveChecks }
  const isEveryBlockRead =
    blocks.length === last.height - session.cursor.height && blocks.every(({ spending }) => spending !== undefined)
  if (isEveryBlockRead)
    return { blocks: withIncreases(blocks, await locate(session, ledger, blocks, moved)), saveChecks }
  return { blocks: await settleChosen(session, ledger, blocks, moved), saveChecks }
}

/**
 * Where blocks between these were not read, their direct transfers are not known either, so that a sum over the range proves nothing: only what
 * an account gained in a block that was read counts.
 */
async function settleChosen(
  session: ScanSession,
  ledger: BalanceLedger,
  blocks: readonly ScannedBlock[],
  moved: readonly OpenedSheet[],
): Promise<readonly TransferBlock[]> {
  const read = blocks.filter(({ spending }) => spending !== undefined)
  const matchKeys = moved.map(({ matchKey }) => matchKey)
  const { found } = await readBalanceChanges(ledger, read, matchKeys)
  const settled = new Map((await settleIncreases(session, found)).map((block) => [block.hash, block]))
  return blocks.map((block) => settled.get(block.hash) ?? block)
}

async function saveUnread(session: ScanSession, sheets: readonly Sheet[], last: ScannedBlock) {
  await saveSheets(session, sheets, last)
  return {}
}

/**
 * Stores what changed, and everything where a session compares for the first time, or not from where it did last. What accounts that are compared no
 * longer had is forgotten: nothing would store its changes, and an account may come back.
 */
async function saveChanges(
  session: ScanSession,
  sheets: readonly Sheet[],
  stored: ReadonlySet<string>,
  last: ScannedBlock,
): Promise<Pick<ChainCursor, 'compared'>> {
  const { deps, source, lease, comparisons = 0 } = session
  const compared = comparedAtCursor(session)
  const isUnchanged = ({ matchKey, start, end }: Sheet): boolean =>
    stored.has(matchKey) && start?.flowBase === 0n && start.balanceBase === end
  session.comparisons = compared === undefined ? comparisons + 1 : comparisons
  const run = `${lease.epoch}.${session.comparisons}`
  await saveSheets(session, compared === undefined ? sheets : sheets.filter((sheet) => !isUnchanged(sheet)), last, run)
  const ends = new Map(sheets.map(({ matchKey, end }) => [matchKey, end]))
  const left = [...(compared?.ends.keys() ?? [])].filter((matchKey) => !ends.has(matchKey))
  await deps.balances.dropChecks(source.mode, source.network, left, lease.epoch)
  const place = { height: last.height, hash: last.hash }
  session.compared = { ends, ...place }
  return { compared: { run, ...place } }
}

/** This session's comparison that ended at the cursor; undefined where none did. */
function comparedAtCursor({ compared, cursor }: ScanSession): ScanSession['compared'] {
  return compared?.height === cursor.height && compared.hash === cursor.hash ? compared : undefined
}

function saveSheets(
  { deps, source, lease }: ScanSession,
  sheets: readonly Sheet[],
  last: ScannedBlock,
  run?: string,
): Promise<void> {
  const ofRun = run === undefined ? {} : { run }
  const checks = sheets.flatMap((sheet) => nextChecks(sheet, last)).map((account) => ({ ...account, ...ofRun }))
  return deps.balances.save(source.mode, source.network, checks, lease.epoch)
}

/** One account over the scanned blocks. Without a start its earlier balance is unknown; without an end, its later one. */
interface Sheet {
  readonly matchKey: string
  readonly start: BalanceCheck | undefined
  readonly end: bigint | undefined
  readonly flows: readonly BlockFlow[]
}
type OpenedSheet = Sheet & { readonly start: BalanceCheck; readonly end: bigint }

const isOpened = (sheet: Sheet): sheet is OpenedSheet => sheet.start !== undefined && sheet.end !== undefined

const unexplained = ({ start, end, flows }: OpenedSheet): bigint =>
  end - start.balanceBase - start.flowBase - netOf(flows)

/**
 * The checks that are valid up to the cursor's block; if there is none, the balance at that block is one. Where blocks below it passed without
 * balances, that hides what came in them.
 */
async function startsOf(
  session: ScanSession,
  ledger: BalanceLedger,
  matchKeys: readonly string[],
): Promise<StartChecks> {
  const { height, hash, time } = session.cursor
  const { starts, ...rest } = await storedStarts(session, matchKeys)
  const unknown = matchKeys.filter((matchKey) => !starts.has(matchKey))
  if (unknown.length === 0) return { starts, ...rest }
  for (const [matchKey, balanceBase] of (await ledger.read(unknown, { height, hash, time })) ?? []) {
    starts.set(matchKey, { height, hash, balanceBase, flowBase: 0n, through: { height, hash } })
  }
  return { starts, ...rest }
}

interface StartChecks {
  readonly starts: Map<string, BalanceCheck>
  /** Accounts without a stored one because blocks below the cursor passed without balances. */
  readonly broken: readonly string[]
  /** Accounts of which it is the last one that is stored. */
  readonly stored: ReadonlySet<string>
}

/** The stored ones of them. The store is not read for accounts that this session compared last: it has the same. */
async function storedStarts(session: ScanSession, matchKeys: readonly string[]): Promise<StartChecks> {
  const { deps, source, cursor } = session
  const { height, hash } = cursor
  const through = { height, hash }
  const current = cursor.compared?.height === height && cursor.compared.hash === hash ? cursor.compared.run : null
  const { ends } = comparedAtCursor(session) ?? { ends: new Map() }
  const starts = new Map<string, BalanceCheck>()
  const broken: string[] = []
  for (const matchKey of matchKeys) {
    const balanceBase = ends.get(matchKey)
    if (balanceBase !== undefined) starts.set(matchKey, { ...through, balanceBase, flowBase: 0n, through })
  }
  const stored = new Set(starts.keys())
  const others = matchKeys.filter((matchKey) => !stored.has(matchKey))
  for (const { matchKey, checks, run } of await deps.balances.find(source.mode, source.network, others)) {
    const check = checks.findLast((one) => one.through.height === height && one.through.hash === hash)
    const last = checks.at(-1)
    const isSame = check === undefined && last !== undefined && run === current
    if (check !== undefined) starts.set(matchKey, check)
    else if (isSame) starts.set(matchKey, { ...last, ...through, through })
    // A reorganisation or a person moved the cursor into blocks that had passed.
    else if (checks.length === 0 || checks.some((one) => one.height < height && height < one.through.height))
      broken.push(matchKey)
    if (isSame || (check !== undefined && check === last)) stored.add(matchKey)
  }
  return { starts, broken, stored }
}

/** Two are stored: one of them is right whether or not the cursor moves after this. None: blocks passed, and no balance before them is known. */
function nextChecks({ matchKey, start, end, flows }: Sheet, last: ScannedBlock): readonly AccountChecks[] {
  const through = { height: last.height, hash: last.hash }
  if (end !== undefined) {
    const check = { ...through, balanceBase: end, flowBase: 0n, through }
    return [{ matchKey, checks: start === undefined ? [check] : [start, check] }]
  }
  if (start === undefined) return [{ matchKey, checks: [] }]
  return [{ matchKey, checks: [start, { ...start, flowBase: start.flowBase + netOf(flows), through }] }]
}

/** Assigns increases to the blocks in which they happened, as far as the state of these blocks can be read. */
async function locate(
  session: ScanSession,
  ledger: BalanceLedger,
  blocks: readonly ScannedBlock[],
  moved: readonly OpenedSheet[],
): Promise<readonly PlacedIncrease[]> {
  const matchKeys = moved.map(({ matchKey }) => matchKey)
  const states = await Promise.all(
    blocks.slice(0, -1).map(async (block) => ({ block, balances: await ledger.read(matchKeys, block) })),
  )
  const recordedOf = await recordedPayments(session, ledger, blocks, moved)
  const placed: PlacedIncrease[] = []
  for (const sheet of moved) {
    const { matchKey, start, end, flows } = sheet
    const inner = states.flatMap(({ block: { height, hash }, balances }): Reading[] => {
      const balanceBase = balances?.get(matchKey)
      return balanceBase === undefined ? [] : [{ height, hash, balanceBase }]
    })
    const last = blocks.slice(-1).map(({ height, hash }) => ({ height, hash, balanceBase: end }))
    const increases: FoundIncrease[] = []
    for (const one of findIncreases(start, [...inner, ...last], flows, recordedOf(sheet))) {
      const { height } = one.increase.since
      increases.push(one.height - height > 1 ? { ...one, from: await earliestSince(session, height) } : one)
    }
    placed.push(...(await placeIncreases(session, blocks, matchKey, increases)))
  }
  return placed
}

/**
 * Stored payments that explain increases: all payments of these blocks, and of blocks before and after them those detected from
 * balances, which may have been read when fewer blocks could be.
 */
async function recordedPayments(
  session: ScanSession,
  { asset }: Pick<BalanceLedger, 'asset'>,
  blocks: readonly ScannedBlock[],
  moved: readonly OpenedSheet[],
): Promise<(sheet: OpenedSheet) => readonly Payment[]> {
  const { deps, source, cursor } = session
  const { mode, network } = source
  const stored = await deps.payments.listInBlocks({
    mode,
    network,
    assets: [asset],
    matchKeys: moved.map(({ matchKey }) => matchKey),
    from: Math.min(...moved.map(({ start }) => start.height)) + 1,
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

async function report(session: ScanSession, sheets: readonly Sheet[], last: ScannedBlock): Promise<void> {
  const { deps, source } = session
  const labels = { mode: source.mode, network: source.network }
  const gaps = sheets.filter(({ start, end }) => start === undefined && end !== undefined).length
  const shortfalls = sheets.filter(isOpened).filter((sheet) => unexplained(sheet) < 0n).length
  const gap = { from: session.cursor.height + 1, to: last.height, accounts: gaps }
  // Where blocks are chosen by balances, their looks compare these accounts with their payments later.
  if (gaps > 0) await (source.thrifty === undefined ? reportGap : countGap)(session, gap)
  if (shortfalls > 0) deps.metrics.count('scanner_balance_shortfalls_total', labels, shortfalls)
}
