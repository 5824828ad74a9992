import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AccountFindings, Holdings } from '#shared/ports/account-reader.ts'
import type { BlockRef, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { moveCursor, type ScanSession } from './scan-session.ts'
import {
  type BlockStage,
  commitBlocks,
  endBeforeTrouble,
  type Head,
  scanForward,
  stageBlocks,
  walkBack,
} from './scan-tick.ts'
import { extendWindow, type HashWindow } from './scan-window.ts'
import { lookBack } from './thrifty-looks.ts'
import { blockAt, openWatches, readChosen } from './thrifty-reads.ts'

/** A head whose time differs more than this from the clock: times prove nothing about what was shown before which block. */
const FRESH_MS = 30_000
/** Longest range of one step. */
const SPAN_MAX = 50_000
/** Attempts to find a block by its time. */
const SEEK_MAX = 6
/** Older hashes are remembered at heights that are multiples of this: `extendWindow` keeps one in so many. */
const SPARSE = 64

/**
 * Moves the cursor towards the head and reads in full only the blocks that concern open watches, and those in which payments are stored.
 * Where a node cannot answer for the cursor's block any more, every block is read. Where the range passes the deadline of an open watch, every
 * node is asked, from its own balances. Returns false when nothing was committed.
 */
export async function readRange(session: ScanSession, head: Head): Promise<boolean> {
  const { accounts } = session.source.client
  if (accounts === undefined) throw new TypeError('the family has no account reader')
  const readAt = session.deps.clock.now()
  const open = await openWatches(session)
  await passUnopened(session, head, Math.min(readAt, ...open.map(({ since }) => since)))
  const { cursor, source } = session
  const end = await endOf(session, head)
  if (end === null) return false
  const through = passedBy(session, head, end)
  const ending = open.filter(({ expiresAt }) => expiresAt <= through)
  const isLast = ending.length > 0
  // Each earlier range was read by one node: before the deadline every node says what came in since the address was shown.
  if (isLast) {
    // Nodes have no balances of a block that was replaced: looking back from there would fail again and again.
    if ((await source.client.blockAt(cursor.height))?.hash !== cursor.hash) return walkBack(session, head)
    await lookBack(session, ending)
  }
  const stage = await stageBlocks(session)
  const matchKeys = open.map(({ matchKey }) => matchKey)
  const others = [...stage.accounts.keys()].filter((matchKey) => !matchKeys.includes(matchKey))
  const { baseline = null } = session.thrifty ?? {}
  const before = !isLast && baseline?.hash === cursor.hash ? baseline.state : undefined
  const found = await accounts.touched({
    from: cursor,
    to: end,
    matchKeys,
    others,
    exactly: true,
    everywhere: isLast,
    ...(before !== undefined && { before }),
  })
  if (found === 'gone') return scanForward(session, head)
  if (found === 'forked') return walkBack(session, head)
  if (before !== undefined && contradicts(found.start, before, matchKeys)) {
    await lookBack(session, open)
    remember(session, null, end)
    return true
  }
  const stored = await storedHeights(session, end)
  const all = [...new Set([...found.heights, ...stored])].sort((one, other) => one - other)
  const heights = all.slice(0, source.batchMax)
  const last = all.length === heights.length ? end : await blockAt(session, heights.at(-1) ?? end.height)
  const blocks = await readBlocks(session, stage, heights, last)
  // What was read by height is on the branch of the last block only if that is still there.
  if (heights.length > 0 && (await source.client.blockAt(last.height))?.hash !== last.hash) return false
  // The commit stores this finality with the hashes: a replaced block at or below it halts the scan, however deep the fork is.
  const remembered = await rememberedUpTo(session, last, head.finalizedHeight ?? -1)
  if (!(await commitBlocks(session, head, { stage, blocks, remembered }))) return false
  remember(session, last.hash === end.hash ? found : null, last)
  return true
}

/** The newest block of the range, which the node still has as the head. */
async function endOf(session: ScanSession, head: Head): Promise<BlockRef | null> {
  const { cursor, source } = session
  const height = Math.min(head.height, cursor.height + SPAN_MAX, endBeforeTrouble(cursor))
  // Whoever answers about the range must have this block before and after: asking for it by height once more proves nothing.
  if (height === head.height && head.block !== undefined) return head.block
  const end = await source.client.blockAt(height)
  return end === null || (height === head.height && end.hash !== head.hash) ? null : end
}

/** Whether a node has other coins at the cursor's block than were read there before: then earlier ranges may hold unseen money. */
const contradicts = (start: Holdings, before: Holdings, matchKeys: readonly string[]): boolean =>
  matchKeys.some((matchKey) => before.has(matchKey) && start.get(matchKey)?.[0] !== before.get(matchKey)?.[0])

/** Up to when deadlines may pass once the cursor is at this block: see `knownUntil`. */
const passedBy = ({ source }: ScanSession, head: Head, end: BlockRef): Ms =>
  source.mode === 'test' && end.hash === head.hash ? Math.max(end.time, head.askedAt) : end.time

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
  const { outpoints, asked: coins } = stage
  for (const height of heights) blocks.push(await readChosen(session, height, { outpoints, coins }))
  if (blocks.some(({ height, hash }) => height === last.height && hash !== last.hash)) {
    throw new NodeUnreliable(`block ${last.height} was read from another branch`)
  }
  if (heights.at(-1) === last.height) return blocks
  return [...blocks, { ...last, transfers: [] }]
}

function remember({ thrifty }: ScanSession, found: AccountFindings | null, { hash }: BlockRef): void {
  if (thrifty !== undefined) thrifty.baseline = found && { hash, holdings: found.holdings, state: found.state }
}

/**
 * Heights at distances 1, 4, 16 … below a block, the last of them at the finality depth, so that a reorganisation finds its fork at most about
 * four times as deep as it is. None is needed below one at or below `settled`: a reorganisation that replaces that one halts the scan,
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
  for (let distance = 1; distance <= finalityDepth / 2; distance *= 4) distances.push(distance)
  return [...distances, finalityDepth]
}

/** A block in the form of the window. */
export const rememberedBelow = ({ height, hash }: BlockRef): HashWindow => [[height, hash]]

/**
 * Moves the cursor without questions to a block that is older than every open watch: nobody could have paid one of them before. Addresses
 * without an open invoice are looked for by their balances. Does nothing where times of blocks cannot be trusted.
 */
async function passUnopened(session: ScanSession, head: Head, openedAt: Ms): Promise<void> {
  const { cursor, deps, source } = session
  const { marginMs = Number.POSITIVE_INFINITY, blockTimeMs = 1 } = source.thrifty ?? {}
  const limit = openedAt - marginMs
  const { time } = head
  if (time === undefined || Math.abs(deps.clock.now() - time) > FRESH_MS || limit - cursor.time < marginMs) return
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
