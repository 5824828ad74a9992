import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Holdings } from '#shared/ports/account-reader.ts'
import type { LookPlace, Looks } from '#shared/ports/cursors.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'
import type { WatchedMethod } from '#shared/ports/invoices.ts'
import type { BlockRef, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { assertHeld, moveCursor, type ScanSession, writeScope } from './scan-session.ts'
import { confirmThroughCursor } from './scan-tick.ts'
import { placeOf } from './thrifty-mode.ts'
import type { LookProgress, ThriftyPace } from './thrifty-pace.ts'
import { blockAt, readChosen } from './thrifty-reads.ts'

/** How long after its deadline the address of an invoice is looked at every hour. */
const ENDED_MS = 24 * 3_600_000
/** Addresses of one question, and questions of one step. */
const PAGE = 100
const PAGES = 10
/** Pause after a look that failed. */
const RETRY_MS = 60_000

/**
 * Looks for money at addresses that no open invoice holds, by their balances: those of invoices that ended in the last day, or all of them,
 * whichever is due. A look that fails is counted and begins again a minute later. Blocks in which a balance changed by more than is stored are read in full. Returns whether anything was done. After a
 * crash a look begins again; keys make that harmless.
 */
export async function lookAround(session: ScanSession, pace: ThriftyPace): Promise<boolean> {
  const { cursor, deps, source } = session
  if (cursor.looks == null || cursor.status === 'halted') return false
  const { thrifty: state } = session
  if (state !== undefined && deps.clock.now() < state.lookAfter) return false
  try {
    return await continueLook(session, pace)
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    // A look can wait. As a trouble of the cursor it would hold up open invoices, which need none.
    session.looking = undefined
    if (state !== undefined) state.lookAfter = deps.clock.now() + RETRY_MS
    deps.metrics.count('scanner_look_failures_total', { mode: source.mode, network: source.network })
    deps.logger.warn({ err: error, mode: source.mode, network: source.network }, 'a look at balances failed')
    return false
  }
}

async function continueLook(session: ScanSession, pace: ThriftyPace): Promise<boolean> {
  const { cursor, source } = session
  if (cursor.looks == null) return false
  session.looking ??= await begin(session, cursor.looks, pace)
  const { looking } = session
  if (looking === undefined) return false
  const { accounts } = source.client
  if (accounts === undefined) return false
  for (let pages = 0; pages < PAGES; pages += 1) {
    const { matchKeys, isLast } = await nextPage(looking.keys)
    const outcome = matchKeys.length === 0 ? 'done' : await lookAt(session, looking, matchKeys)
    if (outcome === 'gone') return readAll(session, looking)
    if (outcome === 'forked') {
      session.looking = undefined
      if (await returnLook(session, looking.kind)) return true
      throw new NodeUnreliable(`the node does not have block ${looking.to.height}, where the look ends`)
    }
    if (!isLast) continue
    await advance(session, looking.kind, looking.to)
    session.looking = undefined
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
  await advance(session, kind, placeOf(lower, at))
  return true
}

async function begin(session: ScanSession, looks: Looks, pace: ThriftyPace): Promise<LookProgress | undefined> {
  const { deps, index } = session
  const now = deps.clock.now()
  // A look of a later time than now was made by a clock that was wrong: it must not keep the next one away until then.
  const isDue = (kind: keyof Looks, everyMs: number) => {
    const sinceMs = now - looks[kind].at
    return sinceMs >= everyMs || sinceMs < -pace.marginMs
  }
  const kind = isDue('all', pace.allLookMs) ? 'all' : isDue('ended', pace.endedLookMs) ? 'ended' : null
  if (kind === null) return undefined
  const end = await settledBlock(session)
  if (end === null || end.height <= looks[kind].height) {
    // Nothing is final that was not looked at: the time of the look counts, its place stays.
    await advance(session, kind, { ...looks[kind], at: now })
    return undefined
  }
  const to = placeOf(end, now)
  if (kind === 'all') return { kind, to, keys: iteratorOf(index.keys()) }
  const { mode, network } = session.source
  const rows = await deps.invoices.watchedMethods(mode, network, looks.ended.time - ENDED_MS)
  const keys = new Set(rows.flatMap(({ matchKey }) => (index.has(matchKey) ? matchKey : [])))
  return { kind, to, keys: keys.values() }
}

/** The newest block at or below the cursor that no reorganisation reaches. */
async function settledBlock({ cursor, source }: ScanSession): Promise<BlockRef | null> {
  const settled = cursor.finalizedHeight ?? cursor.headHeight - source.finalityDepth
  return source.client.blockAt(Math.max(0, Math.min(cursor.height, settled)))
}

const iteratorOf = (keys: Iterable<string> | AsyncIterable<string>): LookProgress['keys'] =>
  Symbol.asyncIterator in keys ? keys[Symbol.asyncIterator]() : keys[Symbol.iterator]()

async function nextPage(
  keys: LookProgress['keys'],
): Promise<{ readonly matchKeys: readonly string[]; readonly isLast: boolean }> {
  const matchKeys: string[] = []
  while (matchKeys.length < PAGE) {
    const next = await keys.next()
    if (next.done === true) return { matchKeys, isLast: true }
    matchKeys.push(next.value)
  }
  return { matchKeys, isLast: false }
}

/**
 * Compares balances of these addresses, on every node, between a block before they were shown and the cursor with their payments, and reads
 * blocks that explain a difference: a node that served old balances for a while hides nothing when the deadline passes. Where no node has
 * balances of the first block any more, nothing is compared, which is counted. Throws `NodeUnreliable`.
 */
export async function lookBack(session: ScanSession, watches: readonly WatchedMethod[]): Promise<void> {
  const { cursor, deps, source } = session
  const { marginMs = 0 } = source.thrifty ?? {}
  const shownAt = Math.min(...watches.map(({ since }) => since))
  const from = await blockBefore(session, shownAt - marginMs)
  if (from.height >= cursor.height) return
  const span = { from: placeOf(from, 0), to: placeOf(cursor, 0) }
  for (let start = 0; start < watches.length; start += PAGE) {
    const matchKeys = watches.slice(start, start + PAGE).map(({ matchKey }) => matchKey)
    const outcome = await compare(session, { ...span, matchKeys, everywhere: true, label: `open:${shownAt}` })
    if (outcome === 'forked')
      throw new NodeUnreliable(`no node has both block ${from.height} and block ${cursor.height}`)
    if (outcome !== 'gone') continue
    deps.metrics.count('scanner_balance_gaps_total', { mode: source.mode, network: source.network }, matchKeys.length)
  }
}

/** A block at or below the cursor that is not later than a time, or the first one. Usually not much older. */
async function blockBefore(session: ScanSession, time: Ms): Promise<BlockRef> {
  const { cursor, source } = session
  const { blockTimeMs = 1 } = source.thrifty ?? {}
  let blocks = Math.ceil(Math.max(0, cursor.time - time) / blockTimeMs)
  for (;;) {
    const block = await blockAt(session, Math.max(0, cursor.height - blocks))
    if (block.time <= time || block.height === 0) return block
    blocks = 2 * blocks + 1
  }
}

/** Balances of these addresses against payments that are stored for a range. */
interface Comparison {
  readonly from: LookPlace
  readonly to: LookPlace
  readonly matchKeys: readonly string[]
  readonly everywhere?: boolean
  /** Names the comparison in the ids of its exceptions: the same one opens none twice. */
  readonly label: string
}

async function lookAt(
  session: ScanSession,
  { kind, to }: LookProgress,
  matchKeys: readonly string[],
): Promise<'done' | 'gone' | 'forked'> {
  const from = session.cursor.looks?.[kind]
  return from === undefined ? 'done' : compare(session, { from, to, matchKeys, label: 'look' })
}

async function compare(session: ScanSession, asked: Comparison): Promise<'done' | 'gone' | 'forked'> {
  const { source } = session
  const { from, to, matchKeys, everywhere = false } = asked
  const { accounts } = source.client
  if (accounts === undefined) return 'done'
  const stored = await storedSums(session, matchKeys, { from, to })
  const found = await accounts.touched({ from, to, matchKeys, exactly: false, stored, everywhere })
  if (typeof found === 'string') return found
  if (found.heights.length === 0) return 'done'
  for (const height of found.heights) {
    await recordBlocks(session, height, [await readChosen(session, height)])
  }
  const growth = found.growth ?? new Map()
  await reportUnexplained(session, growth, await storedSums(session, matchKeys, { from, to }), asked)
  return 'done'
}

/** What is stored for each account in a range, in the order of the assets. */
async function storedSums(
  { deps, source }: ScanSession,
  matchKeys: readonly string[],
  { from, to }: { readonly from: LookPlace; readonly to: LookPlace },
): Promise<Holdings> {
  const { mode, network, client } = source
  const assets = client.accounts?.assets ?? []
  const sums = new Map(matchKeys.map((matchKey) => [matchKey, assets.map(() => 0n)]))
  for (const [at, asset] of assets.entries()) {
    const range = { from: from.height + 1, to: to.height }
    for (const { matchKey, amountBase } of await deps.payments.listInBlocks({
      mode,
      network,
      asset,
      matchKeys,
      ...range,
    })) {
      const row = sums.get(matchKey)
      if (row !== undefined) row[at] = (row[at] ?? 0n) + amountBase
    }
  }
  return sums
}

/** Stores what these blocks contain, all of them at or below the cursor. */
async function recordBlocks(session: ScanSession, from: number, blocks: readonly ScannedBlock[]): Promise<void> {
  assertHeld(session)
  await recordBlockTransfers(session.deps, { ...writeScope(session), from, blocks })
  await confirmThroughCursor(session)
}

/** No node has balances of the last look any more: a step of blocks is read as in full scanning, until balances are there again. */
async function readAll(session: ScanSession, { kind, to }: LookProgress): Promise<true> {
  const { source, cursor, index, deps } = session
  session.looking = undefined
  const from = cursor.looks?.[kind]
  if (from === undefined) return true
  const blocks = await source.client.scan(from.height + 1, Math.min(to.height, from.height + source.batchMax), index)
  const last = blocks.at(-1)
  if (last === undefined) throw new NodeUnreliable('the node has none of the blocks to look at')
  await recordBlocks(session, from.height + 1, blocks)
  deps.metrics.count('scanner_balance_gaps_total', { mode: source.mode, network: source.network })
  // Due again at once while blocks are left.
  const at = last.height < to.height ? from.at : to.at
  await advance(session, kind, placeOf(last, at))
  return true
}

async function advance(session: ScanSession, kind: keyof Looks, to: LookPlace): Promise<void> {
  const { looks } = session.cursor
  if (looks != null) await moveCursor(session, { looks: { ...looks, [kind]: to } })
}

/** Money that no block explains: it moved inside a call that no node shows. A person decides. */
async function reportUnexplained(
  { deps, source }: ScanSession,
  growth: Holdings,
  stored: Holdings,
  { to, label, everywhere }: Comparison,
): Promise<void> {
  const { mode, network, client } = source
  const waiting = everywhere === true ? 'An invoice may wait for them.' : 'No open invoice waits for them.'
  const rows: ExceptionRecord[] = []
  for (const [matchKey, figures] of growth) {
    for (const [at, asset] of (client.accounts?.assets ?? []).entries()) {
      const restBase = (figures[at] ?? 0n) - (stored.get(matchKey)?.[at] ?? 0n)
      if (restBase <= 0n || restBase < deps.catalog.asset(asset).dustBase) continue
      rows.push({
        id: `unexplained_balance:${mode}:${network}:${label}:${matchKey}:${asset}${everywhere === true ? '' : `:${to.height}`}`,
        kind: 'unexplained_balance',
        workspaceId: null,
        mode,
        invoiceId: null,
        paymentKey: null,
        detail: `0x${matchKey} on ${network} holds ${restBase} base units of ${asset} more than its payments explain, up to block ${to.height}. ${waiting} Compare with a block explorer.`,
        openedAt: deps.clock.now(),
        closedAt: null,
      })
    }
  }
  if (rows.length === 0) return
  await deps.exceptions.openOnce(rows)
  deps.metrics.count('scanner_unexplained_balances_total', { mode, network }, rows.length)
}
