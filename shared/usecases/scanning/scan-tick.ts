import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { AmountContradicted, type Payment } from '#shared/ports/payments.ts'
import type { BlockRef, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { type ChainClient, NodeUnreliable, type Silence } from '#shared/ports/scanning.ts'
import { isRereading } from '#shared/usecases/networks/network-lag.ts'
import { networkRow } from '#shared/usecases/networks/network-row.ts'
import { confirmPayments, type RecordInput, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import {
  type CheckedBlocks,
  type CoinAccounts,
  checkBalances,
  coinAccountsOf,
  type FiguresOfBlocks,
} from './scan-balances.ts'
import { outpointsOf, recordIn, scanMempool, unconfirmedOf } from './scan-mempool.ts'
import { isReplaced, resolveReorg, resumeHalted, showWaiting, standingStill, waiting } from './scan-reorg.ts'
import { assertHeld, doubting, moveCursor, type ScanSession, writeScope } from './scan-session.ts'
import { extendWindow, type HashWindow } from './scan-window.ts'

/** A larger distance means that the scan is catching up. */
const LIVE_LAG_MAX = 20
/** How often a quiet chain's cursor records that its node still responds. */
const HEARTBEAT_MS = 5_000

/** A node that is behind for longer than this needs an operator's attention. */
const BEHIND_MS = 30_000

/** The node's head, and when it was requested. */
export type Head = Awaited<ReturnType<ChainClient['head']>> & { readonly requestedAt: Ms }

/**
 * One poll of the node: commits the next blocks, or walks back from a fork. Returns false when there was nothing to
 * do. The order of a commit is payments and exceptions, then the cursor, then confirmations; each step may be
 * repeated, so a crash between two costs nothing. A failed or missing response throws, and the cursor stays. `forward` is used
 * while the head is ahead of the cursor.
 */
export async function scanTick(
  session: ScanSession,
  forward: ScanForward = (one, head) => scanForward(one, head),
): Promise<boolean> {
  const { source } = session
  const requestedAt = session.deps.clock.now()
  const head = { ...(await source.client.head()), requestedAt }
  session.head = { height: head.height, seenAt: session.deps.clock.now() }
  reportPosition(session, head)
  if (session.cursor.status === 'halted') {
    if (head.height > session.cursor.headHeight) await moveCursor(session, { headHeight: head.height })
    return resumeHalted(session)
  }
  const follow = followHead(session, head, forward)
  if (follow !== null) return follow
  // A lower head means a node that lags behind another one, or that lost its newest blocks and will replace them.
  if (head.height < session.cursor.height && !(await isReplaced(session))) return waitForHead(session, head)
  return walkBack(session, head)
}

/** Records why nothing moves, once the node is behind for longer than a normal delay. */
async function waitForHead(session: ScanSession, head: Head): Promise<false> {
  const { height, headSeenAt } = session.cursor
  if (session.deps.clock.now() - headSeenAt < BEHIND_MS) return false
  const reason = `The node's newest block is ${head.height}, but block ${height} is already scanned. Scanning waits until the node has it.`
  await showWaiting(session, reason)
  return false
}

/** False when no fork was resolved: a node with inconsistent blocks is polled again after the pause, not at once. */
export async function walkBack(session: ScanSession, head: Head): Promise<boolean> {
  const before = session.cursor
  await resolveReorg(session, head.height)
  return session.cursor !== before
}

/** Commits new blocks, or polls mempool and balances at the head; null when the head is on another branch, or lower. */
function followHead(session: ScanSession, head: Head, forward: ScanForward): Promise<boolean> | null {
  const { height, hash } = session.cursor
  if (head.height > height) return forward(session, head)
  return head.height === height && head.hash === hash ? poll(session, head) : null
}

async function poll(session: ScanSession, head: Head): Promise<boolean> {
  await scanMempool(session)
  return heartbeat(session, head)
}

/** Commits blocks that follow the cursor, up to the head at most. False when there was nothing to do. */
export type ScanForward = (session: ScanSession, head: Head) => Promise<boolean>

/** What else the cursor gets when it moves to a block. */
export type CursorChange = (last: BlockRef) => Partial<Pick<ChainCursor, 'unproven'>>

/** Reads every block after the cursor, as many as one step may take. */
export async function scanForward(session: ScanSession, head: Head, change?: CursorChange): Promise<boolean> {
  const { source, cursor, index } = session
  const from = cursor.height + 1
  const to = Math.min(head.height, cursor.height + source.batchMax, endBeforeTrouble(cursor))
  const stage = await stageBlocks(session)
  const blocks = await source.client.scan(from, to, index, stage.outpoints, stage.scanAccounts)
  const [first] = blocks
  if (first === undefined) return false
  if (first.parentHash !== cursor.hash) return walkBack(session, head)
  return commitBlocks(session, head, { stage, blocks, ...(change !== undefined && { change }) })
}

/** What has to be known before blocks are read. */
export interface BlockStage {
  readonly unconfirmed: readonly Payment[]
  readonly outpoints: ReadonlySet<string>
  readonly accounts: CoinAccounts
  /** The same accounts for a client; undefined for none. */
  readonly scanAccounts: ReadonlySet<string> | undefined
}

/** Read after the head and before the blocks. */
export async function stageBlocks(session: ScanSession): Promise<BlockStage> {
  const unconfirmed = await unconfirmedOf(session)
  const accounts = await coinAccountsOf(session)
  const scanAccounts = accounts.size === 0 ? undefined : accounts
  return { unconfirmed, outpoints: outpointsOf(unconfirmed), accounts, scanAccounts }
}

/** Blocks that were read, ascending; the last one becomes the cursor. */
export interface ReadBlocks {
  readonly stage: BlockStage
  readonly blocks: readonly ScannedBlock[]
  /** Other blocks of the range whose hashes are remembered. */
  readonly remembered?: HashWindow
  readonly figures?: FiguresOfBlocks
  readonly change?: CursorChange
}

/** Stores what the blocks from the cursor on contain, then the cursor, then confirmations. False when the head was replaced meanwhile. */
export async function commitBlocks(
  session: ScanSession,
  head: Head,
  { stage, blocks, remembered = [], figures, change }: ReadBlocks,
): Promise<boolean> {
  const { source, cursor } = session
  const { unconfirmed, accounts } = stage
  const from = cursor.height + 1
  const last = blocks.at(-1)
  if (last === undefined) return false
  // The head was replaced while it was read: accounts missing from the list may have been paid in the new one.
  if (source.client.balances !== undefined && last.height === head.height && last.hash !== head.hash) return false
  const confirmedToo = isRereading(cursor)
  const { mempoolAt = cursor.time } = cursor
  const input = { ...writeScope(session), from, unconfirmed, mempoolAt, confirmedToo }
  // Before the lease is asserted: the key of an increase depends on stored payments, so no other holder may write in between.
  const checked = await checkedOrCredited(session, { input, blocks, accounts, figures })
  assertHeld(session)
  await record(session, { ...input, blocks: checked.blocks })
  const saved = await checked.saveChecks()
  const held = holdWhileGone(session, checked, last.height < head.height)
  const read = blocks.map((block) => [block.height, block.hash] as const)
  const seen = [...new Map([...remembered, ...read])].sort(([one], [other]) => one - other)
  await moveCursor(session, {
    height: last.height,
    hash: last.hash,
    time: last.time,
    window: extendWindow(cursor.window, seen, source.finalityDepth),
    status: head.height - last.height > LIVE_LAG_MAX ? 'catchup' : 'live',
    // Blocks do not show waiting mempool transactions: from the first block on, activity is known up to a complete mempool reading.
    ...(source.client.mempool !== undefined &&
      cursor.mempoolAt === undefined && {
        // Blocks may carry times in the future (Bitcoin: two hours): only activity before the last reading is known.
        mempoolAt: Math.min(mempoolAt, head.requestedAt),
      }),
    ...(confirmedToo && last.height >= (cursor.recheckThrough ?? -1) && { recheckThrough: null }),
    ...headFields(session, head),
    advancedAt: session.deps.clock.now(),
    ...(last.hash === head.hash && atHead(session, head)),
    ...(cursor.trouble != null && { trouble: null }),
    ...held,
    ...saved,
    ...change?.(last),
  })
  await confirmThroughCursor(session)
  return true
}

/**
 * Deadlines in blocks whose balances no node has any more wait for the first block that has some, or for the head: what contracts paid in time shows
 * there, as a sum. Where blocks are chosen by balances, each deadline waits for its proof in any case.
 */
function holdWhileGone(session: ScanSession, { isGone = false }: CheckedBlocks, isBehind: boolean) {
  const { cursor, source } = session
  if (source.thrifty !== undefined) return {}
  const wasHeld = session.isHeldWhileGone === true
  session.isHeldWhileGone = isGone && isBehind && (wasHeld || cursor.unproven == null)
  if (session.isHeldWhileGone) return doubting(cursor, cursor.time)
  return wasHeld ? { unproven: null } : {}
}

/** Blocks to commit with what is needed to store them. */
interface CommitTask extends Pick<ReadBlocks, 'blocks'>, Pick<BlockStage, 'accounts'> {
  readonly figures: FiguresOfBlocks | undefined
  readonly input: Omit<RecordInput, 'blocks'>
}

/** The blocks with their balance increases. While balances cannot be read, what the blocks show is stored, and only the cursor waits. */
async function checkedOrCredited(
  session: ScanSession,
  { input, blocks, accounts, figures }: CommitTask,
): Promise<CheckedBlocks> {
  try {
    return await checkBalances(session, blocks, accounts, figures)
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    assertHeld(session)
    await record(session, { ...input, blocks })
    throw error
  }
}

/**
 * After a failure one block at a time, or up to the block named as unreadable: earlier blocks are credited, and
 * the cursor ends directly before it.
 */
export function endBeforeTrouble({ trouble, height }: ChainCursor): number {
  return trouble == null ? Number.POSITIVE_INFINITY : Math.max(trouble.height - 1, height + 1)
}

/** A block that contradicts its stored payments is not passed; the cursor records why it stays. */
async function record(session: ScanSession, input: RecordInput): Promise<void> {
  try {
    await recordIn(session, () => recordBlockTransfers(session.deps, input))
  } catch (error) {
    if (error instanceof AmountContradicted) {
      await showWaiting(session, `The nodes disagree: ${error.message}. Scanning waits until they agree.`)
    }
    throw error
  }
}

/** Confirms payments that the committed cursor has buried deep enough. */
export async function confirmThroughCursor(session: ScanSession): Promise<void> {
  if (session.cursor.status === 'halted') return
  assertHeld(session)
  let held = 0
  const { height, finalizedHeight, window } = session.cursor
  const { client } = session.source
  session.doubts ??= new Map()
  await confirmPayments(session.deps, {
    ...writeScope(session),
    height,
    finalizedHeight,
    client,
    doubts: session.doubts,
    chain: { blockAt: (at) => client.blockAt(at), window: new Map(window) },
    auditDisputed: (payments) => {
      held = payments
    },
  })
  await showMissed(session, held)
  await reportUnheard(session)
}

async function heartbeat(session: ScanSession, head: Head): Promise<boolean> {
  const finalityMoved = (head.finalizedHeight ?? -1) > (session.cursor.finalizedHeight ?? -1)
  const { trouble, headSeenAt } = session.cursor
  if (finalityMoved || trouble != null || session.deps.clock.now() - headSeenAt >= HEARTBEAT_MS) {
    const passed = trouble == null ? {} : { trouble: null }
    await moveCursor(session, { status: 'live', ...headFields(session, head), ...atHead(session, head), ...passed })
    // Also without new blocks: payments that a second node did not confirm are checked again.
    await confirmThroughCursor(session)
  }
  return false
}

/** Everything up to that moment has been read, unless unconfirmed transactions count: then only a complete mempool reading shows that. */
function atHead({ source }: ScanSession, { requestedAt }: Head): { readonly atHeadAt?: Ms } {
  return source.client.mempool === undefined ? { atHeadAt: requestedAt } : {}
}

/** Finality never goes back, whichever node reports it. */
export function headFields(session: ScanSession, head: Head) {
  const known = session.cursor.finalizedHeight
  const finalizedHeight = head.finalizedHeight === null ? known : Math.max(known ?? 0, head.finalizedHeight)
  const headSeenAt = session.deps.clock.now()
  const headTime = session.source.thrifty === undefined || head.time === undefined ? {} : { headTime: head.time }
  const wait = waiting(session, session.missedReason ?? session.unprovenReason ?? null)
  return { headHeight: head.height, headSeenAt, finalizedHeight, ...headTime, ...wait }
}

function reportPosition({ deps, source, cursor }: ScanSession, head: Pick<Head, 'height'>): void {
  const labels = { mode: source.mode, network: source.network }
  deps.metrics.gauge('scanner_height', cursor.height, labels)
  deps.metrics.gauge('scanner_head_height', head.height, labels)
  deps.metrics.gauge('scanner_lag_blocks', Math.max(0, head.height - cursor.height), labels)
}

/**
 * Shows at the cursor and its gauge why payments are not confirmed when the second node is silent, or its blocks stand still, until nothing waits any
 * more or all nodes respond with current blocks. `held` payments were not confirmed by a second node just now.
 */
async function showMissed(session: ScanSession, held: number): Promise<void> {
  const missed = await whoIsMissed(session, held)
  const reason = missed === null ? null : `Payments are waiting for confirmation by a second node: ${missed}.`
  const before = session.missedReason ?? null
  session.missedReason = reason
  if (reason !== null || before !== null) await showWaiting(session, reason)
}

/** Which nodes payments wait for, and why these confirm nothing; null when none waits for such a node. */
async function whoIsMissed({ deps, source, cursor }: ScanSession, held: number): Promise<string | null> {
  const silence = source.client.silence?.() ?? null
  const missed = silence === null ? '' : missedNodes(silence)
  if (silence === null || missed === '') return null
  if (held > 0) return missed
  if (silence.answering > 1) return null
  // Payments that must be final are not due with the response of one node.
  const { mode, network } = source
  const buried = { mode, network, height: cursor.height, finalizedHeight: cursor.height }
  return (await deps.payments.dueForConfirmation(buried)).length > 0 ? missed : null
}

/** Names the nodes and what is wrong with each; empty when none is down or stands still. */
function missedNodes({ hosts, outdated }: Silence): string {
  const silent = hosts.length === 0 ? [] : [`${hosts.join(' and ')} did not respond`]
  return [...silent, ...standingStill(outdated)].join(', and ')
}

/** Tells operators which nodes are missing where nodes decide together, and why as far as that is known, until they answer again. */
async function reportUnheard(session: ScanSession): Promise<void> {
  const { deps, source } = session
  const silence = source.client.silence?.()
  const hosts = silence?.unheard.join(' and ') ?? ''
  if (hosts === session.unheard) return
  const why = silence === undefined ? '' : missedNodes(silence)
  const detail = `On ${source.network} (${source.mode}), ${hosts} gave no usable answer for ten minutes${why === '' ? '' : ` (${why})`}. Until that changes, payments that need a second node wait, and the other nodes decide alone whether an invoice expires, an unconfirmed payment counts as dropped, or the payments of a replaced block are taken back. Repair it, or remove it from PAYMESH_NETWORKS.`
  const row = networkRow(session, 'halted_chain', 'unheard_node', detail)
  if (hosts === '') await deps.exceptions.close([row.id], deps.clock.now())
  else await deps.exceptions.report(row)
  session.unheard = hosts
}
