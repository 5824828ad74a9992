import type { Ms } from '#shared/domain/invoice/model.ts'
import { type BlockPlace, growthBetween, type Holdings, isRead, type Sums } from '#shared/ports/account-reader.ts'
import type { AccountStart, AccountStarts } from '#shared/ports/native-balances.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { readUntil } from '#shared/usecases/networks/known-until.ts'
import type { FoundIncrease } from './balance-sheet.ts'
import {
  compareRange,
  type MoneyLeft,
  recordBlocks,
  recordIncreases,
  recordLogged,
  reportCode,
  reportLeft,
  restsAbove,
  storedSums,
} from './compare-range.ts'
import { waiting } from './scan-reorg.ts'
import { assertHeld, moveCursor, type ScanSession } from './scan-session.ts'
import { blockAt, leastOf, type OpenWatch, openWatches, spendBlocks } from './thrifty-reads.ts'

/** Requests for logs of the life of invoices that one proof may make. */
const LOG_REQUESTS = 20
/** Accounts of one question. */
const PAGE = 100
/** Starts of one account: a stranger may open many invoices that share an address. */
const STARTS_MAX = 20
/** How long a deadline waits for the logs of tokens that came in; then a person decides. */
const PATIENCE_MS = 60_000

/**
 * Stores what open watches have at the cursor's block when an invoice is first read: nobody could have paid it before. Deadlines are proven
 * against it, so that no node needs to remember the state of that block. Invoices that share an address have a start each, up to a bound: those
 * beyond it have the newest earlier one. Throws `ScannerFenced`.
 */
export async function keepStarts(session: ScanSession, open: readonly OpenWatch[], holdings: Holdings): Promise<void> {
  const { deps, source, lease } = session
  session.started ??= new Set()
  const { started } = session
  const fresh = open.filter((watch) => !isStarted(session, watch))
  if (fresh.length === 0) return
  const { mode, network } = source
  const rows = await deps.balances.starts(mode, network, keysOf(fresh))
  const stored = new Map(rows.map(({ matchKey, starts }) => [matchKey, starts]))
  const changed = fresh.flatMap((watch): AccountStarts[] => {
    const starts = withStart(session, watch, stored.get(watch.matchKey) ?? [], holdings)
    return starts === null ? [] : [{ matchKey: watch.matchKey, starts }]
  })
  assertHeld(session)
  await deps.balances.saveStarts(mode, network, changed, lease.epoch)
  for (const { matchKey, invoiceIds } of fresh) for (const id of invoiceIds) started.add(`${matchKey}:${id}`)
}

/** Whether the start of each invoice of an address is stored, as far as this session saw. */
export const isStarted = ({ started }: ScanSession, { matchKey, invoiceIds }: OpenWatch): boolean =>
  invoiceIds.every((id) => started?.has(`${matchKey}:${id}`) === true)

/** The starts of open invoices alone, and one at the cursor for those that have none; null when each has one. */
function withStart(
  { cursor }: ScanSession,
  { matchKey, invoiceIds }: OpenWatch,
  stored: readonly AccountStart[],
  holdings: Holdings,
): readonly AccountStart[] | null {
  const known = new Set(stored.flatMap((start) => start.invoiceIds))
  const missing = invoiceIds.filter((id) => !known.has(id))
  const figures = holdings.get(matchKey)
  if (figures === undefined || missing.length === 0) return null
  const open = new Set(invoiceIds)
  const left = stored.flatMap((start) => {
    const ids = start.invoiceIds.filter((id) => open.has(id))
    return ids.length === 0 ? [] : [{ ...start, invoiceIds: ids }]
  })
  const newest = left.at(-1)
  if (newest !== undefined && left.length >= STARTS_MAX)
    return [...left.slice(0, -1), { ...newest, invoiceIds: [...newest.invoiceIds, ...missing] }]
  const bases = figures.map((figure) => (isRead(figure) ? figure : null))
  return [...left, { invoiceIds: missing, height: cursor.height, hash: cursor.hash, figures: bases }]
}

const keysOf = (watches: readonly OpenWatch[]): string[] => watches.map(({ matchKey }) => matchKey)

/**
 * Lets deadlines pass that the cursor has read: on every node that answers, the accounts have at the cursor's block what they had when they
 * were shown and what is stored since; or the differences were placed in their blocks. Where one node answers alone, its logs are read as
 * well where that is cheap. A node that cannot say holds up the deadline only, and its words are in the cursor's `waitReason`. Where no
 * node has the balances any more, the deadline passes and is counted: what one node said at each step is then all there is. Returns whether the budget of
 * this step was used up, so that the next one has to follow at once.
 */
export async function proveDeadlines(session: ScanSession): Promise<boolean> {
  const { cursor, source, deps } = session
  if (cursor.unproven == null || cursor.status === 'halted') return false
  session.unprovenSince ??= deps.clock.now()
  try {
    // Times of blocks may be in the future.
    const through = Math.max(cursor.time, readUntil(cursor, source.thrifty?.blockTimeMs ?? 1))
    const open = await openWatches(session)
    // Where every block is read, or deadlines wait from before the first of them: blocks before may have been read with wrong balances or none,
    // whichever invoices they concerned.
    const isDoubtful =
      source.thrifty === undefined || open.every(({ expiresAt }) => expiresAt > (cursor.unproven ?? expiresAt))
    const ending = open.filter(({ expiresAt }) => isDoubtful || expiresAt <= through)
    // Those that are added while a proof takes several steps come last, so that pages stay what they are.
    ending.sort((one, other) => one.expiresAt - other.expiresAt || (one.matchKey < other.matchKey ? -1 : 1))
    if (!(await prove(session, ending))) return true
    session.unprovenReason = null
    session.unprovenSince = undefined
    session.provenWhole = undefined
    session.proving = undefined
    session.withoutLogged = undefined
    await moveCursor(session, { unproven: null, ...waiting(session, session.silence?.reason ?? null) })
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    const reason = `Deadlines wait until its nodes show that nothing was missed: ${error.message}.`
    session.unprovenReason = reason
    const change = waiting(session, reason)
    if (Object.keys(change).length > 0) await moveCursor(session, change)
    deps.metrics.count('scanner_unproven_deadlines_total', { mode: source.mode, network: source.network })
  }
  return false
}

/** Whether all of them are; false where the budget of one step was used up first. */
async function prove(session: ScanSession, ending: readonly OpenWatch[]): Promise<boolean> {
  // Nodes have no balances of a block that was replaced: the next step walks back.
  const { height, hash, time } = session.cursor
  if (ending.length > 0 && (await blockAt(session, height)).hash !== hash) {
    throw new NodeUnreliable(`block ${height} was replaced`)
  }
  for (let start = 0; start < ending.length; start += PAGE) {
    const page = ending.slice(start, start + PAGE)
    const at = { height, hash, time }
    const scene = await compareWithStarts(session, page, at)
    if (scene === 'spent') return false
    await reportCode(session, scene.answers)
    const outcome = scene.open.length === 0 ? 'done' : await lookBack(session, scene, start)
    if (outcome === 'spent') return false
    if (outcome !== 'gone') continue
    if ((await readOfSenders(session, scene)) === 'spent') return false
    if ((await settleGone(session, scene, at)) === 'spent') return false
  }
  return true
}

/** The oldest start of each account's open invoices that is on this branch and below the cursor. */
async function startsOf(session: ScanSession, page: readonly OpenWatch[]): Promise<ReadonlyMap<string, AccountStart>> {
  const { deps, source, cursor } = session
  const open = new Set(page.flatMap(({ invoiceIds }) => invoiceIds))
  const found = new Map<string, AccountStart>()
  for (const { matchKey, starts } of await deps.balances.starts(source.mode, source.network, keysOf(page))) {
    const start = starts.find(({ invoiceIds }) => invoiceIds.some((id) => open.has(id)))
    if (start === undefined || start.height >= cursor.height) continue
    // A final block is never replaced.
    const isFinal = start.height <= (cursor.finalizedHeight ?? -1)
    if (isFinal || (await blockAt(session, start.height)).hash === start.hash) found.set(matchKey, start)
  }
  return found
}

/** What newest balances show beside what accounts had at first. */
interface Scene {
  /** Those whose balances are not what is stored, on some node, or whose start is not known. */
  readonly open: readonly OpenWatch[]
  readonly starts: ReadonlyMap<string, AccountStart>
  /** Of each node, at the cursor. */
  readonly answers: readonly Holdings[]
}

async function compareWithStarts(
  session: ScanSession,
  page: readonly OpenWatch[],
  at: BlockPlace,
): Promise<Scene | 'spent'> {
  const { accounts } = session.source.client
  if (accounts === undefined) throw new TypeError('the family has no account reader')
  const starts = await startsOf(session, page)
  const answers = await accounts.everywhere(keysOf(page), at)
  if (answers.length === 0) throw new NodeUnreliable(`no node has the balances of block ${at.height}`)
  const from = Math.min(...[...starts.values()].map(({ height }) => height))
  // The balances of a single node may be old; its logs say as much again.
  if (answers.length === 1 && from < at.height) {
    const range = { from, to: at.height, matchKeys: keysOf(page), requests: LOG_REQUESTS }
    if (!(await recordLogged(session, range))) return 'spent'
  }
  const stored = await storedSince(session, keysOf(page), starts, at)
  const open = page.filter(({ matchKey }) => {
    const start = starts.get(matchKey)
    return start === undefined || !isExplained(session, { matchKey, start, answers, sums: stored.get(matchKey) ?? [] })
  })
  return { open, starts, answers }
}

/** What is stored of each account since its start, of one without a start everything. */
const storedSince = (
  session: ScanSession,
  matchKeys: readonly string[],
  starts: ReadonlyMap<string, AccountStart>,
  to: BlockPlace,
): Promise<Sums> =>
  storedSums(session, matchKeys, { above: (matchKey) => starts.get(matchKey)?.height ?? -1, to: to.height })

interface AccountState {
  readonly matchKey: string
  readonly start: AccountStart
  readonly answers: readonly Holdings[]
  readonly sums: readonly bigint[]
}

function isExplained(session: ScanSession, { matchKey, start, answers, sums }: AccountState): boolean {
  const least = leastOf(session)
  return answers.every((answer) => {
    const figures = answer.get(matchKey) ?? []
    return start.figures.every((then, index) => {
      if (then === null) return false
      const growth = growthBetween(then, figures[index])
      if (growth === null) return false
      const rest = growth - (sums[index] ?? 0n)
      // What stands behind the balances is the number of sent transactions: an account that sent something may have sent coins on.
      return index >= least.length ? rest === 0n : (rest < 0n ? -rest : rest) < (least[index] ?? 1n) || rest === 0n
    })
  })
}

/**
 * Compares balances on every node between a block before they were shown and the cursor with what is stored, and reads the blocks that
 * explain a difference. A start may be older: clocks differ, and what came in since then is missing. `spent` where the budget of one step was
 * used up first; `gone` where no node has those balances any more. What was looked through for these accounts of a page is not looked through
 * again, whatever the other pages take.
 */
async function lookBack(
  session: ScanSession,
  { open, starts, answers }: Scene,
  page: number,
): Promise<'done' | 'spent' | 'gone'> {
  const { cursor, deps, source } = session
  const { height, hash, time } = cursor
  const { marginMs = 0 } = source.thrifty ?? source.looks ?? {}
  const shownAt = Math.min(...open.map(({ since }) => since))
  const matchKeys = keysOf(open)
  const senders = matchKeys.filter((matchKey) => {
    const start = starts.get(matchKey)
    return start === undefined || hasSent(start, matchKey, answers)
  })
  const before = await blockBefore(session, shownAt - marginMs)
  const lowest = Math.min(before.height, ...matchKeys.flatMap((matchKey) => starts.get(matchKey)?.height ?? []))
  const first = lowest < before.height ? await blockAt(session, lowest) : before
  if (first.height >= cursor.height) return 'done'
  session.proving ??= new Map()
  const { proving } = session
  const known = proving.get(page)
  const from = known !== undefined && matchKeys.every((key) => known.accounts.has(key)) ? known.from : first
  if (from.hash === cursor.hash) return 'done'
  const place = from.height < cursor.height ? from : first
  const waitedMs = deps.clock.now() - (session.unprovenSince ?? deps.clock.now())
  const outcome = await compareRange(session, {
    from: place,
    to: cursor,
    matchKeys,
    senders,
    everywhere: true,
    logRequests: LOG_REQUESTS,
    mayLackLogs: waitedMs >= PATIENCE_MS,
  })
  if (outcome === 'forked') {
    // The place may be a block that was replaced.
    proving.delete(page)
    throw new NodeUnreliable(`no node has both block ${place.height} and block ${cursor.height}`)
  }
  const isPlace = outcome !== 'done' && outcome !== 'gone'
  if (outcome === 'gone') proving.delete(page)
  else proving.set(page, { accounts: new Set(matchKeys), from: isPlace ? outcome : { height, hash, time } })
  return isPlace ? 'spent' : outcome
}

/**
 * Reads in full the blocks since an account had its start which sent something meanwhile, unless every block was read: coins that came in and
 * were sent on between two readings of figures chose no block. `spent`: some of the blocks are left. Where they are more than the day's budget, none is read, and what came in
 * and went out is left to a person.
 */
async function readOfSenders(session: ScanSession, { open, starts, answers }: Scene): Promise<'done' | 'spent'> {
  const { cursor, source, index } = session
  const heights = open.flatMap(({ matchKey }) => {
    const start = starts.get(matchKey)
    return start !== undefined && hasSent(start, matchKey, answers) ? start.height : []
  })
  if (heights.length === 0) return 'done'
  const { provenWhole: whole } = session
  const since = Math.min(...heights)
  const isGoingOn =
    whole !== undefined && whole.since <= since && (await blockAt(session, whole.height)).hash === whole.hash
  const from = Math.max(since, isGoingOn ? whole.height : 0)
  const to = cursor.source === 'full' ? Math.min(cursor.height, cursor.fullAbove ?? 0) : cursor.height
  const left = to - from
  if (left <= 0 || !spendBlocks(session, left, Math.min(left, source.batchMax))) return 'done'
  const blocks = await source.client.scan(from + 1, Math.min(to, from + source.batchMax), index)
  const last = blocks.at(-1)
  if (last === undefined) throw new NodeUnreliable('the node has none of the blocks of a deadline')
  await recordBlocks(session, from + 1, blocks, new Set())
  session.provenWhole = { since: isGoingOn ? whole.since : since, height: last.height, hash: last.hash }
  return last.height < to ? 'spent' : 'done'
}

/** Whether a node shows another number of sent transactions, or other code, than the account had at first. */
const hasSent = ({ figures }: AccountStart, matchKey: string, answers: readonly Holdings[]): boolean =>
  answers.some((answer) => answer.get(matchKey)?.at(-1) !== figures.at(-1))

/**
 * Where no node has the balances between start and cursor any more: each range was placed by figures, or every block of it was read, so direct coins
 * are stored; coins beyond those, of an account that sent nothing, came in inside of calls and are one payment of their sum. Whatever else
 * balances show is left to a person, and so is an account that was shown while nothing could be read: what it had before is not known, unless
 * all that it ever got is stored and it sent nothing.
 */
async function settleGone(
  session: ScanSession,
  { open, starts, answers }: Scene,
  at: BlockPlace,
): Promise<'done' | 'spent'> {
  const { deps, source } = session
  const matchKeys = keysOf(open)
  deps.metrics.count('scanner_balance_gaps_total', { mode: source.mode, network: source.network }, matchKeys.length)
  const from = Math.min(...matchKeys.flatMap((matchKey) => starts.get(matchKey)?.height ?? []))
  const range = { from, to: at.height, matchKeys, requests: LOG_REQUESTS }
  if (from < at.height && !(await recordLogged(session, range))) return 'spent'
  const stored = await storedSince(session, matchKeys, starts, at)
  const increases = new Map<string, FoundIncrease>()
  const left: MoneyLeft[] = []
  for (const matchKey of matchKeys) {
    const start = starts.get(matchKey)
    const sums = stored.get(matchKey) ?? []
    const figures = answers.map((answer) => answer.get(matchKey) ?? [])
    if (start === undefined) {
      const hasStoredOnly = figures.every((one) => one.every((figure, index) => figure === (sums[index] ?? 0n)))
      if (!hasStoredOnly) left.push({ matchKey, index: 0, restBase: null })
      continue
    }
    const known = start.figures.map((figure, index) => (figure === null ? null : figure + (sums[index] ?? 0n)))
    const [coins = 0n, ...tokens] = restsAbove(session, known, figures)
    const [first] = start.figures
    const isSender = hasSent(start, matchKey, answers)
    if (coins !== 0n && coins !== null && first != null && !isSender && source.client.balances !== undefined) {
      const readings = { beforeBase: String(first), afterBase: String(first + (sums[0] ?? 0n) + coins) }
      const since = { height: start.height, hash: start.hash }
      increases.set(matchKey, { height: at.height, amountBase: coins, increase: { since, ...readings } })
    } else if (coins !== 0n || isSender) {
      // What a key sent on may have come in inside of calls as well.
      left.push({ matchKey, index: 0, restBase: coins === 0n ? null : coins })
    }
    for (const [index, restBase] of tokens.entries()) {
      if (restBase !== 0n) left.push({ matchKey, index: index + 1, restBase })
    }
  }
  await recordIncreases(session, at, increases)
  await reportLeft(session, left, 'An invoice may wait for them.')
  return 'done'
}

/**
 * The newest block at or below the cursor that is not later than a time, or the first one. What an account had before is none of the invoice's,
 * so an older block would not do.
 */
async function blockBefore(session: ScanSession, time: Ms): Promise<BlockPlace> {
  const { cursor, source } = session
  const { blockTimeMs = 1 } = source.thrifty ?? {}
  let blocks = Math.ceil(Math.max(0, cursor.time - time) / blockTimeMs)
  let later = cursor.height + 1
  let found: BlockPlace = await blockAt(session, Math.max(0, cursor.height - blocks))
  while (found.time > time && found.height > 0) {
    later = found.height
    blocks = 2 * blocks + 1
    found = await blockAt(session, Math.max(0, cursor.height - blocks))
  }
  while (later - found.height > 1) {
    const middle = await blockAt(session, Math.floor((found.height + later) / 2))
    if (middle.time <= time) found = middle
    else later = middle.height
  }
  return found
}
