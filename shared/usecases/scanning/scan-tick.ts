import type { Ms } from '#shared/domain/invoice/model.ts'
import { AmountContradicted } from '#shared/ports/payments.ts'
import type { ChainClient, ChainCursor } from '#shared/ports/scanning.ts'
import { confirmPayments, type RecordInput, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { openEndings } from './compare-endings.ts'
import { checkBalances, coinAccountsOf } from './scan-balances.ts'
import { outpointsOf, scanMempool, unconfirmedOf } from './scan-mempool.ts'
import { isReplaced, resolveReorg, resumeHalted, waiting } from './scan-reorg.ts'
import { assertHeld, moveCursor, type ScanSession, writeScope } from './scan-session.ts'
import { reportSilence } from './scan-silence.ts'
import { extendWindow } from './scan-window.ts'
import { settleFormerKeys } from './settle-former-keys.ts'
import { settleUnread } from './settle-unread.ts'

/** Further behind than this is catching up. */
const LIVE_LAG_MAX = 20
/** How often a quiet chain's cursor says that its node still answers. */
const HEARTBEAT_MS = 5_000

/** A node that is behind for longer than this is one that people should look at. */
const BEHIND_MS = 30_000

/** The node's head, and when it was asked for. */
type Head = Awaited<ReturnType<ChainClient['head']>> & { readonly askedAt: Ms }

/**
 * One look at the node: commits the next blocks, or walks back from a fork. Returns false when there was nothing to
 * do. The order of a commit is payments and exceptions, then the cursor, then confirmations; each step may be
 * repeated, so a crash between two costs nothing. Whatever the node fails to answer throws, and the cursor stays.
 */
export async function scanTick(session: ScanSession): Promise<boolean> {
  const { source } = session
  const askedAt = session.deps.clock.now()
  const head = { ...(await source.client.head()), askedAt }
  session.head = { height: head.height, seenAt: session.deps.clock.now() }
  reportPosition(session, head)
  if (session.cursor.status === 'halted') {
    if (head.height > session.cursor.headHeight) await moveCursor(session, { headHeight: head.height })
    return resumeHalted(session)
  }
  const follow = followHead(session, head)
  if (follow !== null) return follow
  // A lower head is a node that lags behind another one, or that lost its newest blocks and will make others.
  if (head.height < session.cursor.height && !(await isReplaced(session))) return waitForHead(session, head)
  return walkBack(session, head)
}

/** Says why nothing moves, once the node is behind for longer than another answer of it takes. */
async function waitForHead(session: ScanSession, head: Head): Promise<false> {
  const { height, headSeenAt } = session.cursor
  if (session.deps.clock.now() - headSeenAt < BEHIND_MS) return false
  const reason = `The node's newest block is ${head.height}, but block ${height} was scanned: it waits until the node has that.`
  const change = waiting(session, reason)
  if (Object.keys(change).length > 0) await moveCursor(session, change)
  return false
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
  const from = cursor.height + 1
  const to = Math.min(head.height, cursor.height + source.batchMax, endBeforeTrouble(cursor))
  const unconfirmed = await unconfirmedOf(session)
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
  const { mempoolAt = cursor.time } = cursor
  await record(session, { ...writeScope(session), from, blocks: settled.blocks, unconfirmed, mempoolAt, confirmedToo })
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
    // No block says what waits in the mempool: from the first one on, that is known up to a look at all of it.
    ...(source.client.mempool !== undefined && cursor.mempoolAt === undefined && { mempoolAt }),
    ...(confirmedToo && last.height >= recheck && { recheckThrough: null }),
    ...headFields(session, head),
    advancedAt: session.deps.clock.now(),
    ...(last.hash === head.hash && atHead(session, head)),
    ...(cursor.trouble != null && { trouble: null }),
  })
  await confirmThroughCursor(session)
  return true
}

/**
 * After a failure one block at a time, or up to the block that is named as unreadable: what can be read before it is credited, and
 * the cursor ends directly before it.
 */
function endBeforeTrouble({ trouble, height }: ChainCursor): number {
  return trouble == null ? Number.POSITIVE_INFINITY : Math.max(trouble.height - 1, height + 1)
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
    settleFormer: (due) => settleFormerKeys(session, due),
    noteDoubted: (payments) => {
      held = payments
    },
  })
  await reportSilence(session, held)
}

async function heartbeat(session: ScanSession, head: Head): Promise<boolean> {
  const finalityMoved = (head.finalizedHeight ?? -1) > (session.cursor.finalizedHeight ?? -1)
  const { trouble, headSeenAt } = session.cursor
  if (finalityMoved || trouble != null || session.deps.clock.now() - headSeenAt >= HEARTBEAT_MS) {
    const passed = trouble == null ? {} : { trouble: null }
    await moveCursor(session, { status: 'live', ...headFields(session, head), ...atHead(session, head), ...passed })
    // Also without news: what a second node did not vouch for is asked about again.
    await confirmThroughCursor(session)
  }
  return false
}

/** All there was at that moment has been read, unless unconfirmed transactions count: then only a look at all of them says so. */
function atHead({ source }: ScanSession, { askedAt }: Head): { readonly atHeadAt?: Ms } {
  return source.client.mempool === undefined ? { atHeadAt: askedAt } : {}
}

/** Finality never goes back, whichever node says so. */
function headFields(session: ScanSession, head: Head) {
  const known = session.cursor.finalizedHeight
  const finalizedHeight = head.finalizedHeight === null ? known : Math.max(known ?? 0, head.finalizedHeight)
  const headSeenAt = session.deps.clock.now()
  return { headHeight: head.height, headSeenAt, finalizedHeight, ...waiting(session, session.silence?.reason ?? null) }
}

function reportPosition({ deps, source, cursor }: ScanSession, head: Pick<Head, 'height'>): void {
  const labels = { mode: source.mode, network: source.network }
  deps.metrics.gauge('scanner_height', cursor.height, labels)
  deps.metrics.gauge('scanner_head_height', head.height, labels)
  deps.metrics.gauge('scanner_lag_blocks', Math.max(0, head.height - cursor.height), labels)
}
