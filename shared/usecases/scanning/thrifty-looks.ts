import type { BlockPlace } from '#shared/ports/account-reader.ts'
import type { LookPlace, Looks } from '#shared/ports/cursors.ts'
import type { BlockRef } from '#shared/ports/scanned-blocks.ts'
import { BlockUnreadable, NodeUnreliable } from '#shared/ports/scanning.ts'
import { reportUnseen } from './balance-gaps.ts'
import type { FoundIncrease } from './balance-sheet.ts'
import {
  compareRange,
  countWithoutLogs,
  leftId,
  type MoneyLeft,
  recordBlocks,
  recordIncreases,
  recordLogged,
  reportCode,
  reportLeft,
  restsAbove,
  storedSums,
} from './compare-range.ts'
import { placeOf } from './scan-mode.ts'
import { moveCursor, type ScanSession } from './scan-session.ts'
import type { LookPace, LookProgress } from './thrifty-pace.ts'
import { blockAt, LOG_REQUESTS, spendBlocks } from './thrifty-reads.ts'

/** How long after its deadline the address of an invoice is looked at every hour. */
const ENDED_MS = 24 * 3_600_000
/** Addresses of one question. */
const PAGE = 100
/** Questions of one step where nothing changed; one that finds changes ends the step. */
const PAGES = 10
/** Addresses that left memory longer ago are looked at once a month. */
const YEAR_MS = 365 * 24 * 3_600_000
/** Amounts that a session remembers between two looks. */
const OBSERVATIONS_MAX = 10_000
/** Pause after a look that failed. */
const RETRY_MS = 60_000
/** Blocks that no node has had for so long are compared like those whose balances are gone: they would end no look. */
const GONE_MS = 3_600_000
/** From the one that looks at most addresses to the one that looks at fewest: each one includes those after it. */
const KINDS = ['month', 'week', 'all', 'ended'] as const
/** Looks at which every node is asked: late payments come soon after a deadline, and what one node conceals at the others the last one finds. */
const EVERYWHERE: ReadonlySet<keyof Looks> = new Set(['ended', 'month'])

/**
 * Looks for money at addresses that no open invoice holds, by their balances, in both ways of scanning: those of invoices that ended in the
 * last day every hour, those in memory every day, older ones every week and month. What they show is stored like any payment: transfers in
 * their block, coins that no transfer shows as an increase. One step asks a bounded number of questions, and the next one continues. A look
 * that fails is counted and begins again a minute later. Returns whether anything was done. After a crash a look begins again; keys make
 * that harmless.
 */
export async function lookAround(session: ScanSession, pace: LookPace): Promise<boolean> {
  const { cursor, deps, source } = session
  if (cursor.looks == null || cursor.status === 'halted') return false
  if (deps.clock.now() < (session.lookAfter ?? Number.NEGATIVE_INFINITY)) return false
  try {
    return await continueLook(session, cursor.looks, pace)
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    // A look can wait. As a trouble of the cursor it would hold up open invoices, which need none.
    session.looking = undefined
    const now = deps.clock.now()
    session.lookAfter = now + RETRY_MS
    if (error instanceof BlockUnreadable && error.isGone)
      session.lookGone = { since: session.lookGone?.since ?? now, lastAt: now }
    deps.metrics.count('scanner_look_failures_total', { mode: source.mode, network: source.network })
    deps.logger.warn({ err: error, mode: source.mode, network: source.network }, 'a look at balances failed')
    return false
  }
}

async function continueLook(session: ScanSession, looks: Looks, pace: LookPace): Promise<boolean> {
  if (session.looking !== undefined && session.looking.to.height > session.cursor.height) session.looking = undefined
  session.looking ??= await begin(session, looks, pace)
  const { looking } = session
  if (looking === undefined) return false
  const { since = 0, lastAt = 0 } = session.lookGone ?? {}
  const isGone = lastAt - since >= GONE_MS
  for (let pages = 0; pages < PAGES; pages += 1) {
    looking.page ??= await nextPage(looking)
    const { page, kind, to } = looking
    const everywhere = EVERYWHERE.has(kind)
    const comparison = { ...page, to, everywhere, logRequests: 1, mayLackLogs: false }
    const outcome = looking.isRead || isGone ? 'gone' : await compareRange(session, comparison)
    const isReadBefore = outcome === 'done' && looking.from.uncompared === true
    if (outcome === 'gone' || isReadBefore) {
      const isRead = looking.isRead || isReadBefore
      const doubts = await compareWithPaid(session, { to, isRead, isGone }, page)
      if (doubts === 'spent') return true
      if (!isRead && !isGone && !isWholeAbove(session, page.from) && mayReadAll(session, page.from, doubts))
        return readAll(session, looking, page.from)
      if (doubts.hasListed) await reportUnseen(session)
      await reportLeft(session, doubts.derived, 'No open invoice waits for them.')
    }
    if (outcome === 'forked') {
      session.looking = undefined
      if (await returnLook(session, kind)) return true
      throw new NodeUnreliable(`the node does not have block ${to.height}, where the look ends`)
    }
    if (outcome !== 'done' && outcome !== 'gone') {
      looking.page = { ...page, from: outcome }
      return true
    }
    looking.page = undefined
    if (!page.isLast) continue
    await advance(session, kind, to)
    session.looking = undefined
    session.withoutLogged = undefined
    session.lookGone = undefined
    return true
  }
  return true
}

/**
 * Sets a look back to a block that no reorganisation reaches when the block where it ended was replaced: looking again is harmless. Returns
 * whether it was replaced.
 */
async function returnLook(session: ScanSession, kind: keyof Looks): Promise<boolean> {
  const { looks } = session.cursor
  if (looks == null) return false
  const { height, hash, at } = looks[kind]
  if ((await blockAt(session, height)).hash === hash) return false
  const lower = await blockAt(session, Math.max(0, height - session.source.finalityDepth))
  await moveCursor(session, { looks: { ...looks, [kind]: { ...looks[kind], ...placeOf(lower, at) } } })
  return true
}

async function begin(session: ScanSession, looks: Looks, pace: LookPace): Promise<LookProgress | undefined> {
  const now = session.deps.clock.now()
  // A look of a later time than now was made by a clock that was wrong: it must not keep the next one away until then.
  const isDue = (kind: keyof Looks) => {
    const sinceMs = now - looks[kind].at
    return sinceMs >= pace[`${kind}LookMs`] || sinceMs < -pace.marginMs
  }
  const kind = KINDS.find(isDue)
  if (kind === undefined) return undefined
  const end = await settledBlock(session)
  if (end === null || end.height <= looks[kind].height) {
    // Nothing is final that was not looked at: the time of the look counts, its place stays.
    await moveCursor(session, { looks: { ...looks, [kind]: { ...looks[kind], at: now } } })
    return undefined
  }
  const keys = await keysOf(session, kind, looks)
  return { kind, from: looks[kind], to: placeOf(end, now), keys, isRead: false, page: undefined }
}

async function keysOf(session: ScanSession, kind: keyof Looks, looks: Looks): Promise<LookProgress['keys']> {
  const { deps, index, source } = session
  if (kind === 'month') return iteratorOf(index.keys())
  if (kind === 'week') return iteratorOf(index.keys(deps.clock.now() - YEAR_MS))
  if (kind === 'all') return iteratorOf(index.keys('hot'))
  const rows = await deps.invoices.watchedMethods(source.mode, source.network, looks.ended.time - ENDED_MS)
  return new Set(rows.flatMap(({ matchKey }) => (index.has(matchKey) ? matchKey : []))).values()
}

/** The newest block at or below the cursor that no reorganisation reaches. */
async function settledBlock({ cursor, source }: ScanSession): Promise<BlockRef | null> {
  const settled = cursor.finalizedHeight ?? cursor.headHeight - source.finalityDepth
  return source.client.blockAt(Math.max(0, Math.min(cursor.height, settled)))
}

const iteratorOf = (keys: Iterable<string> | AsyncIterable<string>): LookProgress['keys'] =>
  Symbol.asyncIterator in keys ? keys[Symbol.asyncIterator]() : keys[Symbol.iterator]()

type Page = NonNullable<LookProgress['page']>

async function nextPage({ keys, from }: LookProgress): Promise<Page> {
  const matchKeys: string[] = []
  while (matchKeys.length < PAGE) {
    const next = await keys.next()
    if (next.done === true) return { from, matchKeys, isLast: true }
    matchKeys.push(next.value)
  }
  return { from, matchKeys, isLast: false }
}

/** Whether every block above this one was read. */
const isWholeAbove = ({ cursor }: ScanSession, { height }: BlockPlace): boolean =>
  height >= (cursor.fullAbove ?? Number.POSITIVE_INFINITY)

/** What newest balances leave open. */
interface Doubts {
  /** Addresses of lists are among them: what their owner does there is not known, so no sum says anything. */
  readonly hasListed: boolean
  /** Money at derived addresses beyond all that was ever paid to them, and that no exception is about. */
  readonly derived: readonly MoneyLeft[]
}

/**
 * What newest balances, which every node has, leave open where no node has those of the last look any more: nobody else uses a derived address, so
 * it has what was ever paid to it, or less. Coins beyond that, where every block was read, came in inside of calls: they are stored as
 * one increase in the last of these blocks, as far as every node shows them. Money that was first seen in a block above those that were read
 * is left to the next look.
 */
async function compareWithPaid(
  session: ScanSession,
  looking: Pick<LookProgress, 'to' | 'isRead'> & { readonly isGone: boolean },
  { from, matchKeys }: Page,
): Promise<Doubts | 'spent'> {
  const { deps, source, cursor } = session
  const through: BlockPlace = looking.isRead ? looking.to : cursor
  const isRead = looking.isRead || isWholeAbove(session, from)
  if (matchKeys.length === 0) return { hasListed: false, derived: [] }
  deps.metrics.count('scanner_balance_gaps_total', { mode: source.mode, network: source.network })
  const rows = await deps.wallets.findAddresses(source.mode, source.family, matchKeys)
  const derived = rows.flatMap(({ matchKey, heldBy }) => (heldBy === undefined ? matchKey : []))
  const hasListed = derived.length < matchKeys.length
  if (derived.length === 0) return { hasListed, derived: [] }
  if (!isRead && !looking.isGone) {
    const range = { from: from.height, to: through.height, matchKeys: derived, requests: LOG_REQUESTS }
    const outcome = await recordLogged(session, range)
    if (outcome === 'spent') return 'spent'
    if (outcome === 'impossible') countWithoutLogs(session)
  }
  const { answers, at } = await newestFigures(session, derived, through)
  await reportCode(session, answers)
  const paid = await storedSums(session, derived, { above: () => -1, to: at.height })
  const isDecided = (money: MoneyLeft) => firstSeen(session, money, at) <= through.height
  const increases = new Map<string, FoundIncrease>()
  const doubts: MoneyLeft[] = []
  for (const matchKey of derived) {
    const figures = answers.map((answer) => answer.get(matchKey) ?? [])
    const rests = restsAbove(session, paid.get(matchKey) ?? [], figures)
    const found = rests.flatMap((restBase, index) => (restBase === 0n ? [] : [{ matchKey, index, restBase }]))
    // An account that sent something spent an amount that is not known here.
    const isSender = figures.some((one) => one.at(-1) !== 0n)
    for (const money of found.filter((one) => !isRead || isDecided(one))) {
      const { index, restBase } = money
      if (index === 0 && restBase !== null && isRead && !isSender && source.client.balances !== undefined) {
        increases.set(matchKey, increaseOf(session, through, restBase, (paid.get(matchKey)?.[0] ?? 0n) + restBase))
      } else doubts.push(money)
    }
  }
  await recordIncreases(session, through, increases)
  const known = await deps.exceptions.existing(doubts.map((money) => leftId(session, money)))
  return { hasListed, derived: doubts.filter((money) => !known.has(leftId(session, money))) }
}

/**
 * Figures of a block at or below the cursor. Where no node has them any more, as where the cursor rests at a final block that is older than what
 * nodes remember, those of the newest block.
 */
async function newestFigures(session: ScanSession, matchKeys: readonly string[], at: BlockPlace) {
  const { accounts, head } = session.source.client
  if (accounts === undefined) throw new TypeError('the family has no account reader')
  const answers = await accounts.everywhere(matchKeys, at)
  if (answers.length > 0) return { answers, at }
  const newest = await blockAt(session, (await head()).height)
  const newer = await accounts.everywhere(matchKeys, newest)
  if (newer.length === 0) throw new NodeUnreliable(`no node has the balances of block ${newest.height}`)
  return { answers: newer, at: newest }
}

/** The height at which a look of this session first saw this money. */
function firstSeen(session: ScanSession, money: MoneyLeft, { height }: BlockPlace): number {
  session.lookObservations ??= new Map()
  const { lookObservations: seen } = session
  const id = leftId(session, money)
  if (seen.size >= OBSERVATIONS_MAX) seen.clear()
  const first = Math.min(height, seen.get(id) ?? height)
  seen.set(id, first)
  return first
}

/** A derived address begins empty. So the increase covers every block before: none of them can count for the same coins again. */
function increaseOf({ cursor }: ScanSession, at: BlockPlace, amountBase: bigint, balanceBase: bigint): FoundIncrease {
  const since = { height: 0, hash: cursor.genesisHash }
  return { height: at.height, amountBase, increase: { since, beforeBase: '0', afterBase: String(balanceBase) } }
}

/**
 * Whether the blocks since the last look are read in full for what balances left open. Addresses of lists need it. For derived ones a stranger
 * chooses when that happens, so a day has a budget of blocks; beyond it the inbox names the address and the money.
 */
function mayReadAll(session: ScanSession, from: BlockPlace, { hasListed, derived }: Doubts): boolean {
  if (hasListed) return true
  if (derived.length === 0) return false
  const blocks = session.cursor.height - from.height
  // A step reads some of them, and the next one asks for the rest.
  return spendBlocks(session, blocks, Math.min(blocks, session.source.batchMax))
}

/**
 * A step of blocks is read in full, up to the cursor. Once all of them were, coins that came in inside of calls are what balances show beyond
 * them.
 */
async function readAll(session: ScanSession, looking: LookProgress, from: BlockPlace): Promise<true> {
  const { source, index, cursor, deps } = session
  const { kind } = looking
  session.looking = undefined
  const blocks = await source.client.scan(
    from.height + 1,
    Math.min(cursor.height, from.height + source.batchMax),
    index,
  )
  const last = blocks.at(-1)
  if (last === undefined) throw new NodeUnreliable('the node has none of the blocks to look at')
  await recordBlocks(session, from.height + 1, blocks, new Set())
  session.lookGone = undefined
  const { looks } = session.cursor
  if (looks == null) return true
  if (last.height < cursor.height) {
    // Due again at once. The rest may have balances again, which say nothing about coins inside of calls before.
    await advance(session, kind, { ...placeOf(last, looks[kind].at), uncompared: true })
    return true
  }
  const to = placeOf(last, deps.clock.now())
  session.looking = { kind, from: to, to, keys: await keysOf(session, kind, looks), isRead: true, page: undefined }
  return true
}

/** A look includes the addresses of those that look at fewer: they have seen as much. */
async function advance(session: ScanSession, kind: keyof Looks, to: LookPlace): Promise<void> {
  const { looks } = session.cursor
  if (looks == null) return
  const included = KINDS.slice(KINDS.indexOf(kind))
  const further = included.filter((one) => one === kind || looks[one].height < to.height)
  await moveCursor(session, { looks: { ...looks, ...Object.fromEntries(further.map((one) => [one, to])) } })
}
