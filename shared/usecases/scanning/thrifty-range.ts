import type { Ms } from '#shared/domain/invoice/model.ts'
import {
  type AccountFindings,
  type AccountReader,
  growthBetween,
  type Holdings,
  hasCode,
} from '#shared/ports/account-reader.ts'
import type { WatchedMethod } from '#shared/ports/invoices.ts'
import type { BlockRef, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { readUntil } from '#shared/usecases/networks/known-until.ts'
import { countWithoutLogs } from './compare-range.ts'
import { isStarted, keepStarts } from './prove-deadlines.ts'
import type { FiguresOfBlocks } from './scan-balances.ts'
import { doubtDeadlines, moveCursor, type ScanSession } from './scan-session.ts'
import {
  type BlockStage,
  type CursorChange,
  commitBlocks,
  endBeforeTrouble,
  type Head,
  scanForward,
  stageBlocks,
  walkBack,
} from './scan-tick.ts'
import { extendWindow, type HashWindow } from './scan-window.ts'
import { blockAt, leastOf, type OpenWatch, openWatches, readChosen, searchBudget } from './thrifty-reads.ts'

/** A head whose time differs more than this from the clock: times prove nothing about what was shown before which block. */
const FRESH_MS = 30_000
/** How long the least age of a head counts. */
const SKEW_LIFE_MS = 600_000
/** A look's block is expected this many times as far below the head as the pace says. */
const HINT_MARGIN = 1.25
/** Longest range of one step … */
const SPAN_MAX = 50_000
/** … and of one that needs all logs of it: in plans that allow ten blocks in a request, a hundred requests that begin again when one fails. */
const LOGGED_SPAN_MAX = 1_000
/** Attempts to find a block by its time. */
const SEEK_MAX = 6
/** Older hashes are remembered at heights that are multiples of this: `extendWindow` keeps one in so many. */
const SPARSE = 64

/**
 * Moves the cursor towards the head and reads in full only the blocks that concern open watches, and those in which payments are stored.
 * The range ends where the budget of its search is used up, so that frequent payments make no step longer. Where a node cannot answer
 * for the cursor's block any more, every block is read. Deadlines that the range passes wait for their proof, which credits nothing
 * and holds up nothing else. Returns false when nothing was committed.
 */
export async function readRange(session: ScanSession, head: Head): Promise<boolean> {
  const { accounts } = session.source.client
  if (accounts === undefined) throw new TypeError('the family has no account reader')
  const readAt = session.deps.clock.now()
  const open = await openWatches(session)
  await passUnopened(session, head, Math.min(readAt, ...open.map(({ since }) => since)))
  const isLogged = open.some((watch) => isBusy(session, watch))
  const end = await endOf(session, head, isLogged ? LOGGED_SPAN_MAX : SPAN_MAX)
  if (end === null) return false
  const change = passing(session, head, open)
  const stage = await stageBlocks(session)
  const found = await searchRange(session, accounts, { end, open, stage, isLogged })
  if (found === 'gone') return scanForward(session, head, change)
  if (found === 'forked') return walkBack(session, head)
  const { cursor, source } = session
  if (contradicts(session, found.start)) await doubtDeadlines(session)
  await keepStarts(session, open, found.start)
  const through = found.through === end.height ? end : await blockAt(session, found.through)
  const stored = await storedHeights(session, through)
  const all = [...new Set([...found.heights, ...stored])].sort((one, other) => one - other)
  const heights = all.slice(0, 2 * source.batchMax)
  const last = all.length === heights.length ? through : await blockAt(session, heights.at(-1) ?? through.height)
  const blocks = await readBlocks(session, stage, heights, last)
  checkTokens(session, blocks, { open, found, isWhole: last.height === found.through })
  // What was read by height is on the branch of the last block only if that is still there.
  if (heights.length > 0 && (await source.client.blockAt(last.height))?.hash !== last.hash) return false
  // The commit stores this finality with the hashes: a replaced block at or below it halts the scan, however deep the fork is.
  const remembered = await rememberedUpTo(session, last, head.finalizedHeight ?? -1)
  if (
    !(await commitBlocks(session, head, { stage, blocks, remembered, figures: figuresOf(session, found, end), change }))
  )
    return false
  if (!found.withLogs && last.height - cursor.height > 1) countWithoutLogs(session)
  remember(session, last.height === found.through ? found : null, last)
  return true
}

/** Reads every block after the cursor, as many as one step may take. Deadlines wait for their proof all the same: blocks before may have been chosen. */
export const readAgain = async (session: ScanSession, head: Head): Promise<boolean> =>
  scanForward(session, head, passing(session, head, await openWatches(session)))

/** What was read at both ends of the range under the hashes of their blocks. */
function figuresOf({ thrifty, cursor }: ScanSession, found: AccountFindings, end: BlockRef): FiguresOfBlocks {
  const figures = new Map<string, Holdings>()
  // What is remembered may have been read by height, as is the state where a budget ended the search.
  if (found.start !== thrifty?.baseline?.state) figures.set(cursor.hash, found.start)
  if (found.through === end.height) figures.set(end.hash, found.state)
  return figures
}

interface RangeSearch {
  readonly end: BlockRef
  readonly open: readonly OpenWatch[]
  readonly stage: BlockStage
  /** Whether all logs of the range are read. */
  readonly isLogged: boolean
}

/** An address that its owner also uses gains and loses tokens between two looks, and so does one with code: only logs show both. */
const isBusy = ({ thrifty }: ScanSession, { isListed, matchKey }: OpenWatch): boolean =>
  isListed || hasCode(thrifty?.baseline?.state.get(matchKey))

/**
 * Coins of a derived address leave by its key alone, which the proof of its deadline notices: the number of sent transactions is read when an
 * invoice is first read, and there. The owner of a listed address sends at any time. What an address with code does shows in no figure,
 * and its tokens come and go like those of a listed one.
 */
function searchRange(session: ScanSession, accounts: AccountReader, { end, open, stage, isLogged }: RangeSearch) {
  const { cursor } = session
  const matchKeys = open.map(({ matchKey }) => matchKey)
  const others = [...stage.accounts.keys()].filter((matchKey) => !matchKeys.includes(matchKey))
  const { baseline = null } = session.thrifty ?? {}
  const senders = open.flatMap((watch) => (watch.isListed || !isStarted(session, watch) ? watch.matchKey : []))
  return accounts.touched({
    from: cursor,
    to: end,
    matchKeys,
    others,
    senders,
    exactly: true,
    least: leastOf(session),
    budget: searchBudget(session, isLogged ? Number.POSITIVE_INFINITY : 1),
    hint: lastSame(session, end),
    ...(baseline?.hash === cursor.hash && { before: baseline.state }),
  })
}

/** About where the last look saw no change, some blocks lower because a pace is an estimate. */
function lastSame({ thrifty, source }: ScanSession, end: BlockRef): number {
  const blocks = (end.time - (thrifty?.sameAt ?? 0)) / (source.thrifty?.blockTimeMs ?? 1)
  return end.height - Math.ceil(HINT_MARGIN * blocks) - 1
}

/** The newest block of the range, which the node still has as the head. */
async function endOf(session: ScanSession, head: Head, spanMax: number): Promise<BlockRef | null> {
  const { cursor, source } = session
  const height = Math.min(head.height, cursor.height + spanMax, endBeforeTrouble(cursor))
  // The node that answers about the range must have this block before and after: asking for it by height once more proves nothing.
  if (height === head.height && head.block !== undefined) return head.block
  const end = await source.client.blockAt(height)
  return end === null || (height === head.height && end.hash !== head.hash) ? null : end
}

/** Whether a node has other coins at the cursor's block than were read there before: then earlier ranges may hold unseen money. */
function contradicts({ thrifty, cursor }: ScanSession, start: Holdings): boolean {
  const { baseline = null } = thrifty ?? {}
  if (baseline?.hash !== cursor.hash) return false
  return [...baseline.state].some(([matchKey, figures]) => {
    const now = start.get(matchKey)
    return now !== undefined && now[0] !== figures[0]
  })
}

/** The first deadline that the cursor passes with its next block waits for a proof. */
function passing({ cursor, source, deps }: ScanSession, head: Head, open: readonly WatchedMethod[]): CursorChange {
  return (last) => {
    const isHead = source.mode === 'test' && last.hash === head.hash
    // A deadline that is still to come passes with a later block, whatever time this one carries.
    const time = Math.min(last.time, deps.clock.now())
    const until = isHead ? Math.max(time, head.requestedAt, readUntil(cursor, 1)) : time
    const passed = open.flatMap(({ expiresAt }) => (expiresAt <= until ? expiresAt : []))
    return passed.length === 0 ? {} : { unproven: Math.min(cursor.unproven ?? Number.POSITIVE_INFINITY, ...passed) }
  }
}

/** Of blocks above the cursor: left by a scanner that stopped before it moved the cursor. */
async function storedHeights({ deps, source, cursor }: ScanSession, end: BlockRef): Promise<readonly number[]> {
  const { mode, network } = source
  const blocks = [{ height: end.height, hash: '' }]
  const rows = await deps.payments.listNonCanonical({
    mode,
    network,
    from: cursor.height + 1,
    blocks,
    confirmedToo: true,
  })
  return rows.flatMap(({ block }) => block?.height ?? [])
}

/** The blocks at these heights as full scanning reads them, and the last one of the range, which may hold nothing. */
async function readBlocks(
  session: ScanSession,
  stage: BlockStage,
  heights: readonly number[],
  last: BlockRef,
): Promise<readonly ScannedBlock[]> {
  const blocks: ScannedBlock[] = []
  const { outpoints, scanAccounts: coins } = stage
  for (const height of heights) blocks.push(await readChosen(session, height, { outpoints, coins }))
  if (blocks.some(({ height, hash }) => height === last.height && hash !== last.hash)) {
    throw new NodeUnreliable(`block ${last.height} was read from another branch`)
  }
  if (heights.at(-1) === last.height) return blocks
  return [...blocks, { ...last, transfers: [] }]
}

interface TokenCheck {
  readonly open: readonly WatchedMethod[]
  readonly found: AccountFindings
  /** The blocks are all that the search named. */
  readonly isWhole: boolean
}

/** Tokens of an account that grew by more than the blocks contain: a node withheld logs or gave balances of another block. */
function checkTokens(
  { source, deps }: ScanSession,
  blocks: readonly ScannedBlock[],
  { open, found, isWhole }: TokenCheck,
): void {
  const { accounts } = source.client
  if (!isWhole || accounts === undefined) return
  const transfers = blocks.flatMap((block) => block.transfers)
  for (const { matchKey } of open) {
    const [before = [], after = []] = [found.start.get(matchKey), found.holdings.get(matchKey)]
    for (const [at, asset] of accounts.assets.entries()) {
      const growth = growthBetween(before[at], after[at]) ?? 0n
      if (at === 0 || growth < deps.catalog.asset(asset).dustBase) continue
      const received = transfers.filter((transfer) => transfer.matchKey === matchKey && transfer.asset === asset)
      if (growth > received.reduce((sum, { amountBase }) => sum + amountBase, 0n)) {
        throw new NodeUnreliable(`a balance of ${asset} grew by more than the blocks of the range contain`)
      }
    }
  }
}

function remember({ thrifty }: ScanSession, found: AccountFindings | null, { hash }: BlockRef): void {
  if (thrifty !== undefined) thrifty.baseline = found && { hash, holdings: found.holdings, state: found.state }
}

/**
 * Heights at distances 4, 64, 1,024 … below a block, the last of them at the finality depth, so that a reorganisation finds its fork at most about
 * sixteen times as deep as it is, or four blocks deep: a range that is looked at again costs little more than a short one. None is needed below one at or below `settled`: a reorganisation that replaces that one halts the scan,
 * wherever its fork is.
 */
async function rememberedUpTo(session: ScanSession, last: BlockRef, settled: number): Promise<HashWindow> {
  const { cursor, source } = session
  const window: (readonly [number, string])[] = []
  for (const distance of distancesOf(source.finalityDepth)) {
    const exact = last.height - distance
    const height = distance < 2 * SPARSE ? exact : exact - (exact % SPARSE)
    if (height <= cursor.height || window.some(([known]) => known <= settled)) break
    window.push([height, (await blockAt(session, height)).hash])
  }
  return [...window.reverse(), ...rememberedBelow(last)]
}

function distancesOf(finalityDepth: number): readonly number[] {
  const distances: number[] = []
  for (let distance = 4; distance <= finalityDepth / 2; distance *= 16) distances.push(distance)
  return [...distances, finalityDepth]
}

/** A block in the form of the window. */
export const rememberedBelow = ({ height, hash }: BlockRef): HashWindow => [[height, hash]]

/**
 * By how much the store's clock may be ahead of the chain's, milliseconds: the least age of a head within the last ten minutes, as each was
 * made before it was read. Without one it is the age of this head.
 */
export function skewMs({ thrifty, deps }: ScanSession, { time }: Pick<Head, 'time'>): Ms {
  const now = deps.clock.now()
  const ageMs = Math.max(0, now - (time ?? now))
  if (thrifty === undefined) return ageMs
  if (ageMs <= thrifty.skew.ms || now - thrifty.skew.at > SKEW_LIFE_MS) thrifty.skew = { ms: ageMs, at: now }
  return thrifty.skew.ms
}

/**
 * Moves the cursor without questions to a block that is older than every open watch: nobody could have paid one of them before. Addresses
 * without an open invoice are looked for by their balances. Does nothing where times of blocks cannot be trusted.
 */
async function passUnopened(session: ScanSession, head: Head, openedAt: Ms): Promise<void> {
  const { cursor, deps, source } = session
  const { marginMs: leastMs = Number.POSITIVE_INFINITY, blockTimeMs = 1 } = source.thrifty ?? {}
  const { time } = head
  const ageMs = deps.clock.now() - (time ?? Number.NEGATIVE_INFINITY)
  const marginMs = leastMs + skewMs(session, head)
  const limit = openedAt - marginMs
  if (time === undefined || Math.abs(ageMs) > FRESH_MS || limit - cursor.time < marginMs) return
  let height = Math.min(head.height, head.height - Math.ceil((time - limit) / blockTimeMs))
  for (let tried = 0; tried < SEEK_MAX && height > cursor.height; tried += 1) {
    const block = await blockAt(session, height)
    if (block.time <= limit) {
      if ((await source.client.blockAt(cursor.height))?.hash !== cursor.hash) return
      // No permitted reorganisation of this head reaches a block as deep as that; the cursor's finality stays as it was.
      const settled = head.height - source.finalityDepth
      const remembered =
        block.height <= settled ? rememberedBelow(block) : await rememberedUpTo(session, block, settled)
      const window = extendWindow(cursor.window, remembered, source.finalityDepth)
      const place = { height: block.height, hash: block.hash, time: block.time, window }
      await moveCursor(session, { ...place, advancedAt: deps.clock.now() })
      return
    }
    height -= Math.max(1, Math.ceil((1.5 * (block.time - limit)) / blockTimeMs))
  }
}
