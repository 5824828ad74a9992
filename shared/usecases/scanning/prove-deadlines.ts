import { type BlockPlace, growthBetween, type Holdings, isRead, type Sums } from '#shared/ports/account-reader.ts'
import type { AccountStart, AccountStarts } from '#shared/ports/native-balances.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { readUntil } from '#shared/usecases/networks/known-until.ts'
import type { FoundIncrease } from './balance-sheet.ts'
import {
  countWithoutLogs,
  type MoneyLeft,
  recordBlocks,
  recordIncreases,
  recordLogged,
  reportCode,
  reportLeft,
  restsAbove,
  storedSums,
} from './compare-range.ts'
import { hasSent, lookBack, type Scene } from './look-back.ts'
import { showWaiting, waiting } from './scan-reorg.ts'
import { assertHeld, doubtDeadlines, moveCursor, type ScanSession } from './scan-session.ts'
import {
  blockAt,
  earliestSince,
  keysOf,
  LOG_REQUESTS,
  leastOf,
  type OpenWatch,
  openWatches,
  requestByAge,
  spendBlocks,
} from './thrifty-reads.ts'

/** Accounts of one question. */
const PAGE = 100
/** Starts of one account: a stranger may open many invoices that share an address. */
const STARTS_MAX = 20

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

/**
 * Lets deadlines pass that the cursor has read: on every node, but for those that gave no answer for ten minutes, the accounts have at the cursor's block what they had when they
 * were shown and what is stored since; or the differences were placed in their blocks. Where one node answers alone, its logs are read as
 * well where that is cheap. While nodes have different settled blocks, none passes, on any family. A node that cannot say holds up the deadline only, and its words are in the cursor's `waitReason`. Where no
 * node has the balances any more, the deadline passes and is counted: what one node said at each step is then all there is. Returns whether the budget of
 * this step was used up, so that the next one has to follow at once.
 */
export async function proveDeadlines(session: ScanSession): Promise<boolean> {
  const { source, deps } = session
  const [differing] = source.client.silence?.().differing ?? []
  if (differing !== undefined) await doubtDeadlines(session)
  const { cursor } = session
  if (cursor.unproven == null || cursor.status === 'halted') return false
  session.unprovenSince ??= deps.clock.now()
  try {
    if (differing !== undefined)
      throw new NodeUnreliable(`${differing.host} has another block ${differing.height} than the node in use`)
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
    if (source.client.accounts !== undefined && !(await prove(session, ending))) return true
    session.unprovenReason = null
    session.unprovenSince = undefined
    session.provenWhole = undefined
    session.proving = undefined
    session.withoutLogged = undefined
    await moveCursor(session, { unproven: null, ...waiting(session, session.missedReason ?? null) })
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    const reason = `Deadlines wait until its nodes show that nothing was missed: ${error.message}.`
    session.unprovenReason = reason
    await showWaiting(session, reason)
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
    session.pulse?.beat()
    const page = ending.slice(start, start + PAGE)
    const at = { height, hash, time }
    const scene = await compareWithStarts(session, page, at)
    if (scene === 'spent') return false
    await reportCode(session, scene.answers)
    const gone = await lookBack(session, scene)
    if (gone === 'spent') return false
    if (gone.open.length === 0) continue
    if ((await readOfSenders(session, gone)) === 'spent') return false
    if ((await settleGone(session, gone, at)) === 'spent') return false
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
  // The balances of a single node may be old; its logs say as much again.
  if (answers.length === 1 && (await recordSince(session, keysOf(page), starts)) === 'spent') return 'spent'
  const stored = await storedSince(session, keysOf(page), starts, at)
  const open = page.filter(({ matchKey }) => {
    const start = starts.get(matchKey)
    return start === undefined || !isExplained(session, { matchKey, start, answers, sums: stored.get(matchKey) ?? [] })
  })
  return { open, starts, answers }
}

/** Stores what logs show to the accounts since their starts, as far as that takes few requests. */
async function recordSince(
  session: ScanSession,
  matchKeys: readonly string[],
  starts: ReadonlyMap<string, AccountStart>,
): Promise<'done' | 'spent'> {
  const started = matchKeys.flatMap((matchKey) => {
    const height = starts.get(matchKey)?.height
    return height === undefined ? [] : [{ matchKey, height }]
  })
  const byAge = started.sort((one, other) => one.height - other.height)
  const left = await requestByAge(byAge, (part) => {
    const range = { from: part[0]?.height ?? 0, to: session.cursor.height, requests: LOG_REQUESTS }
    return recordLogged(session, { ...range, matchKeys: part.map(({ matchKey }) => matchKey) })
  })
  if (left === 'spent') return 'spent'
  if (left.length > 0) countWithoutLogs(session)
  return 'done'
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
 * Reads in full the blocks since an account had its start which sent something meanwhile, unless every block was read: coins that came in and
 * were sent on between two readings of figures chose no block. `spent`: some of the blocks are left. Those since the oldest such start that the day's budget is enough for
 * are read; what came to older ones and went out is left to a person.
 */
async function readOfSenders(session: ScanSession, { open, starts, answers }: Scene): Promise<'done' | 'spent'> {
  const { cursor, source, index } = session
  const heights = open.flatMap(({ matchKey }) => {
    const start = starts.get(matchKey)
    return start !== undefined && hasSent(start, matchKey, answers) ? start.height : []
  })
  const { provenWhole } = session
  const isStanding = provenWhole !== undefined && (await blockAt(session, provenWhole.height)).hash === provenWhole.hash
  const to = cursor.source === 'full' ? Math.min(cursor.height, cursor.fullAbove ?? 0) : cursor.height
  for (const since of heights.sort((one, other) => one - other)) {
    const whole = isStanding && provenWhole.since <= since ? provenWhole : undefined
    const from = Math.max(since, whole?.height ?? 0)
    const left = to - from
    if (left <= 0) return 'done'
    if (!spendBlocks(session, left, Math.min(left, source.batchMax))) continue
    const blocks = await source.client.scan(from + 1, Math.min(to, from + source.batchMax), index)
    const last = blocks.at(-1)
    if (last === undefined) throw new NodeUnreliable('the node has none of the blocks of a deadline')
    await recordBlocks(session, from + 1, blocks, new Set())
    session.provenWhole = { since: whole?.since ?? since, height: last.height, hash: last.hash }
    return last.height < to ? 'spent' : 'done'
  }
  return 'done'
}

/**
 * Where no node has the balances between start and cursor any more: each range was placed by figures, or every block of it was read, so direct coins
 * are stored; coins beyond those, of an account that sent nothing, came in inside of calls and are one payment of their sum. Whatever else
 * balances show is left to a person. What an account had before that was shown while nothing could be read is not known: a derived one that sent nothing had
 * nothing, any other one is left to a person unless all that it ever got is stored.
 */
async function settleGone(
  session: ScanSession,
  { open, starts, answers }: Scene,
  at: BlockPlace,
): Promise<'done' | 'spent'> {
  const { deps, source } = session
  const matchKeys = keysOf(open)
  deps.metrics.count('scanner_balance_gaps_total', { mode: source.mode, network: source.network }, matchKeys.length)
  if ((await recordSince(session, matchKeys, starts)) === 'spent') return 'spent'
  const stored = await storedSince(session, matchKeys, starts, at)
  const increases = new Map<string, FoundIncrease>()
  const left: MoneyLeft[] = []
  const empty = await beganEmpty(session, { open, starts, answers })
  for (const { matchKey, since: shownAt } of open) {
    const start = starts.get(matchKey) ?? empty.get(matchKey)
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
      const from = empty.has(matchKey) ? shownAt : await earliestSince(session, start.height)
      increases.set(matchKey, { height: at.height, amountBase: coins, increase: { since, ...readings }, from })
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

/** Starts of accounts that have none: a derived address that never sent anything had nothing. Such a start covers all earlier blocks. */
async function beganEmpty(
  { source, cursor, deps }: ScanSession,
  { open, starts, answers }: Scene,
): Promise<ReadonlyMap<string, AccountStart>> {
  const { mode, family, client } = source
  const sentNothing = (matchKey: string) => answers.every((answer) => answer.get(matchKey)?.at(-1) === 0n)
  const unknown = open.filter(({ matchKey }) => !starts.has(matchKey) && sentNothing(matchKey))
  const rows = await deps.wallets.findAddresses(mode, family, keysOf(unknown))
  const derived = new Set(rows.flatMap(({ matchKey, heldBy }) => (heldBy === undefined ? matchKey : [])))
  // Behind the assets the number of sent transactions.
  const figures = [...(client.accounts?.assets ?? []).map(() => 0n), 0n]
  return new Map(
    unknown.flatMap(({ matchKey, invoiceIds }): [string, AccountStart][] =>
      derived.has(matchKey) ? [[matchKey, { invoiceIds, height: 0, hash: cursor.genesisHash, figures }]] : [],
    ),
  )
}
