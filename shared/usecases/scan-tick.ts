import { openEndings } from './compare-endings.ts'
import { AmountContradicted } from './ports/payments.ts'
import type { ChainClient } from './ports/scanning.ts'
import { confirmPayments, type RecordInput, recordBlockTransfers } from './record-payments.ts'
import { checkBalances, coinAccountsOf } from './scan-balances.ts'
import { outpointsOf, scanMempool, unconfirmedOf } from './scan-mempool.ts'
import { reportMoving, resolveReorg, resumeHalted, waiting } from './scan-reorg.ts'
import { assertHeld, moveCursor, type ScanSession, writeScope } from './scan-session.ts'
import { reportSilence } from './scan-silence.ts'
import { extendWindow } from './scan-window.ts'
import { settleUnread } from './settle-unread.ts'

/** Further behind than this is catching up. */
const LIVE_LAG_MAX = 20
/** How often a quiet chain's cursor says that its node still answers. */
const HEARTBEAT_MS = 5_000
/** After this time others have reported that the chain stands still. */
const STOOD_STILL_MS = 10 * 60_000

type Head = Awaited<ReturnType<ChainClient['head']>>

/**
 * One look at the node: commits the next blocks, or walks back from a fork. Returns false when there was nothing to
 * do. The order of a commit is payments and exceptions, then the cursor, then confirmations; each step may be
 * repeated, so a crash between two costs nothing. Whatever the node fails to answer throws, and the cursor stays.
 */
export async function scanTick(session: ScanSession): Promise<boolean> {
  const { source } = session
  const head = await source.client.head()
  reportPosition(session, head)
  if (session.cursor.status === 'halted') return resumeHalted(session)
  const { height, headSeenAt } = session.cursor
  const follow = followHead(session, head)
  if (follow !== null) {
    const moved = await follow
    if (session.deps.clock.now() - headSeenAt > STOOD_STILL_MS) await reportMoving(session)
    return moved
  }
  // A lower head is a node that lags behind another one, or a development chain that lost its last blocks.
  if (head.height < height && !source.development) return false
  return walkBack(session, head)
}

/** False when nothing came of it: a node whose blocks do not stand on each other is asked again after the pause, not at once. */
async function walkBack(session: ScanSession, head: Head): Promise<boolean> {
  const before = session.cursor
  await resolveReorg(session, head.height)
  return session.cursor !== before
}

/** Commits what is new, or looks around at the head; null when the head is on another branch, or lower. */
function followHead(session: ScanSession, head: Head): Promise<boolean> | null {
  const { height, hash } = session.cursor
  if (head.height > height) return scanForward(session, head)
  return head.height === height && head.hash === hash ? lookAround(session, head) : null
}

async function lookAround(session: ScanSession, head: Head): Promise<boolean> {
  await scanMempool(session)
  return heartbeat(session, head)
}

async function scanForward(session: ScanSession, head: Head): Promise<boolean> {
  const { source, cursor, index } = session
  const to = Math.min(head.height, cursor.height + source.batchMax)
  const unconfirmed = await unconfirmedOf(session)
  const from = cursor.height + 1
  const accounts = await coinAccountsOf(session)
  const ending = await openEndings(session)
  const asked = accounts.size === 0 ? undefined : new Set(accounts.keys())
  const blocks = await source.client.scan(from, to, index, outpointsOf(unconfirmed), asked)
  const [first] = blocks
  const last = blocks.at(-1)
  if (first === undefined || last === undefined) return false
  if (first.parentHash !== cursor.hash) return walkBack(session, head)
  // The head was replaced while it was read: who is not among the accounts may have been paid in the new one.
  if (source.client.balances?.inUse === true && last.height === head.height && last.hash !== head.hash) return false
  const checked = await checkBalances(session, blocks, accounts)
  // Before the lease is asserted: the key of a rise depends on what is stored, so nobody else may write in between.
  const settled = await settleUnread(session, blocks, checked.blocks)
  assertHeld(session)
  const recheck = cursor.recheckThrough ?? -1
  const confirmedToo = from <= recheck
  await record(session, { ...writeScope(session), from, blocks: settled.blocks, unconfirmed, confirmedToo })
  await settled.openRows()
  await checked.saveChecks()
  await ending.compare(last)
  const seen = blocks.map((block) => [block.height, block.hash] as const)
  await moveCursor(session, {
    height: last.height,
    hash: last.hash,
    time: last.time,
    window: extendWindow(cursor.window, seen, source.finalityDepth),
    status: head.height - last.height > LIVE_LAG_MAX ? 'catchup' : 'live',
    ...(confirmedToo && last.height >= recheck && { recheckThrough: null }),
    ...headFields(session, head),
  })
  await confirmThroughCursor(session)
  return true
}

/** A block that contradicts what is stored of it is not passed; whoever asks why the cursor stays is told. */
async function record(session: ScanSession, input: RecordInput): Promise<void> {
  try {
    await recordBlockTransfers(session.deps, input)
  } catch (error) {
    if (error instanceof AmountContradicted) {
      const reason = `The nodes do not agree: ${error.message}. It waits until the block is told as before.`
      const change = waiting(session, reason)
      if (Object.keys(change).length > 0) await moveCursor(session, change)
    }
    throw error
  }
}

/** Confirms what the committed cursor has buried deep enough. */
export async function confirmThroughCursor(session: ScanSession): Promise<void> {
  if (session.cursor.status === 'halted') return
  assertHeld(session)
  let held = 0
  const { height, finalizedHeight } = session.cursor
  await confirmPayments(session.deps, {
    ...writeScope(session),
    height,
    finalizedHeight,
    client: session.source.client,
    noteDoubted: (payments) => {
      held = payments
    },
  })
  await reportSilence(session, held)
}

async function heartbeat(session: ScanSession, head: Head): Promise<boolean> {
  const finalityMoved = (head.finalizedHeight ?? -1) > (session.cursor.finalizedHeight ?? -1)
  if (finalityMoved || session.deps.clock.now() - session.cursor.headSeenAt >= HEARTBEAT_MS) {
    await moveCursor(session, { status: 'live', ...headFields(session, head) })
    // Also without news: what a second node did not vouch for is asked about again.
    await confirmThroughCursor(session)
  }
  return false
}

/** Finality never goes back, whichever node says so. */
function headFields(session: ScanSession, head: Head) {
  const known = session.cursor.finalizedHeight
  const finalizedHeight = head.finalizedHeight === null ? known : Math.max(known ?? 0, head.finalizedHeight)
  const headSeenAt = session.deps.clock.now()
  return { headHeight: head.height, headSeenAt, finalizedHeight, ...waiting(session, session.silence?.reason ?? null) }
}

function reportPosition({ deps, source, cursor }: ScanSession, head: Head): void {
  const labels = { mode: source.mode, network: source.network }
  deps.metrics.gauge('scanner_height', cursor.height, labels)
  deps.metrics.gauge('scanner_head_height', head.height, labels)
  deps.metrics.gauge('scanner_lag_blocks', Math.max(0, head.height - cursor.height), labels)
}
