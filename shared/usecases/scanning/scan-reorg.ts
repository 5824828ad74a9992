import type { ChainCursor } from '#shared/ports/cursors.ts'
import type { BlockRef } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable, type OutdatedNode } from '#shared/ports/scanning.ts'
import { measureReorg, UNMEASURED } from '#shared/usecases/networks/measure-chain.ts'
import { stuckRow, stuckRowId } from '#shared/usecases/networks/report-stuck-networks.ts'
import { orphanPayments } from '#shared/usecases/payments/record-payments.ts'
import { isTooDeep, locateFork } from './find-fork.ts'
import { looksUpTo } from './scan-mode.ts'
import { assertHeld, doubting, moveCursor, type ScanSession, writeScope } from './scan-session.ts'
import { windowUpTo } from './scan-window.ts'

/** Hash of the first block of a cursor that was moved to another chain, while payments of the previous chain are not orphaned yet. */
const NO_CHAIN = ''

/**
 * Goes back to the last common block with the node, if the network's other nodes do not contradict it: one write
 * moves the cursor there and holds deadlines back, then the payments above it are orphaned. After a crash between the two
 * the scan continues from the fork and orphans payments missing from its blocks, whichever branch the node shows by then. A reorganisation of
 * final blocks or of the whole hash window halts the scanner without touching a payment, in development too: only a
 * development chain that begins with another block is another chain, which is scanned from that block on.
 */
export async function resolveReorg(session: ScanSession, headHeight: number): Promise<void> {
  const { cursor, source, deps } = session
  const found = await locateFork(session, { ...cursor, headHeight })
  const { block: fork } = found
  const depth = fork === null ? Number.POSITIVE_INFINITY : cursor.height - fork.height
  // The node showed another branch for a moment and is back on the scanned one.
  if (depth === 0 || !(await isBelieved(session, fork))) return
  if (fork === null || isTooDeep(found, { ...cursor, finalityDepth: source.finalityDepth })) {
    await ((await isReplaced(session)) ? restartChain(session) : halt(session, depth))
    return
  }
  // The cursor goes first: if a payment were orphaned below it, and the node returned to the scanned branch before the cursor moved,
  // that payment's block would not be read again. Activity is known only up to the fork, until the new branch is scanned and its mempool
  // read. Deadlines must wait for that before the first payment is orphaned, otherwise an invoice expires in between.
  const { atHeadAt, recheckThrough = null } = cursor
  await moveCursor(session, {
    height: fork.height,
    hash: fork.hash,
    time: Math.min(cursor.time, fork.time),
    window: windowUpTo(cursor.window, fork),
    ...looksUpTo(cursor, fork),
    ...(await mempoolUpTo(session, fork)),
    ...(atHeadAt !== undefined && { atHeadAt: Math.min(atHeadAt, fork.time) }),
    ...(await unprovenUpTo(session, fork)),
    advancedAt: deps.clock.now(),
    recheckThrough: Math.max(recheckThrough ?? -1, cursor.height),
    measured: measureReorg(cursor.measured ?? UNMEASURED, depth, deps.clock.now()),
    ...(cursor.trouble != null && { trouble: null }),
    ...waiting(session, null),
  })
  assertHeld(session)
  const changed = await orphanPayments(deps, { ...writeScope(session), forkHeight: fork.height })
  session.unconfirmed = undefined
  // Blocks above the fork may be on the new branch as well, and hold payments of addresses that a thrifty scan does not look for.
  const reread = source.thrifty === undefined ? recheckThrough : Math.max(recheckThrough ?? -1, cursor.height)
  await moveCursor(session, { time: fork.time, recheckThrough: reread })
  const { mode, network } = source
  deps.metrics.count('scanner_reorg_total', { mode, network, depth: depthLabel(depth) })
  deps.logger.warn({ network, mode, depth, forkHeight: fork.height, payments: changed.length }, 'chain reorganised')
}

/**
 * Deadlines of a cursor that goes back to a block wait for a proof where a payment above it is a sum that began below it: its money may lie in
 * blocks that stay and are not read again. Part of the write that moves the cursor.
 */
export async function unprovenUpTo(
  session: ScanSession,
  { height, time }: Pick<BlockRef, 'height' | 'time'>,
): Promise<Pick<ChainCursor, 'unproven'>> {
  const { cursor, deps, source } = session
  const { mode, network } = source
  const blocks = [{ height: Number.MAX_SAFE_INTEGER, hash: '' }]
  const scope = { mode, network, from: height + 1, blocks, confirmedToo: true }
  const above = await deps.payments.listNonCanonical(scope)
  if (!above.some(({ block }) => (block?.increase?.since.height ?? height) < height)) return {}
  session.isHeldWhileGone = false
  return doubting(cursor, time)
}

/**
 * Up to when a mempool is known after a step back to a block: only to before the first payment above it was seen, because its transaction may wait
 * there again, also past a deadline that it had met.
 */
export async function mempoolUpTo(
  { cursor, deps, source }: ScanSession,
  { height, time }: Pick<BlockRef, 'height' | 'time'>,
): Promise<Pick<ChainCursor, 'mempoolAt'>> {
  const { mempoolAt } = cursor
  if (mempoolAt === undefined) return {}
  const { mode, network } = source
  const seenAt = await deps.payments.firstSeenAbove({ mode, network, forkHeight: height })
  return { mempoolAt: Math.min(mempoolAt, time, (seenAt ?? time) - 1) }
}

/**
 * A single node's report orphans nothing where there are others: the lowest of the scanned blocks that it dropped must be gone for them
 * too. While they disagree, the cursor stays and records why; if most have the scanned block, the deviating node is left out.
 */
async function isBelieved(session: ScanSession, fork: BlockRef | null): Promise<boolean> {
  const { source, cursor } = session
  const lowest = cursor.window.find(([height]) => fork === null || height > fork.height)
  if (source.client.voteOnFork === undefined || lowest === undefined) return true
  const [height, hash] = lowest
  const verdict = await source.client.voteOnFork({ height, hash })
  if (verdict === 'gone') return true
  const reason =
    verdict === 'kept'
      ? null
      : [
          `The nodes disagree about block ${height}. Scanning waits until they agree.`,
          ...standingStill(source.client.silence?.().outdated ?? []).map((words) => `Without a vote: ${words}.`),
        ].join(' ')
  await showWaiting(session, reason)
  return false
}

/** Clauses that name nodes whose blocks are old, and which ones. */
export function standingStill(outdated: readonly OutdatedNode[]): readonly string[] {
  return outdated.map(({ host, block, height }) => `the ${block} block of ${host} stands still at ${height}`)
}

/** Cursor fields for a scanner that waits for this reason, or for none; empty when they are already stored. */
export function waiting({ deps, source, cursor }: ScanSession, reason: string | null) {
  const { mode, network } = source
  deps.metrics.gauge('scanner_nodes_disputing', reason === null ? 0 : 1, { mode, network })
  return reason === (cursor.waitReason ?? null) ? {} : { waitReason: reason }
}

/** Stores at the cursor why the scanner waits, or that it does not, unless it is stored already. */
export async function showWaiting(session: ScanSession, reason: string | null): Promise<void> {
  const change = waiting(session, reason)
  if (Object.keys(change).length > 0) await moveCursor(session, change)
}

/** Stops crediting until the node is back on the scanned chain or an operator decides; stored payments stay unchanged. */
async function halt(session: ScanSession, depth: number): Promise<void> {
  const { deps, source, cursor } = session
  const { mode, network } = source
  const haltReason = `The chain forked ${Number.isFinite(depth) ? `${depth} blocks` : 'further'} below block ${cursor.height}, deeper than any reorganisation allowed on this network.`
  await deps.exceptions.open([stuckRow(source, haltReason, deps.clock.now())])
  await moveCursor(session, { status: 'halted', haltReason })
  deps.metrics.gauge('scanner_halted', 1, { mode, network })
  deps.logger.error({ network, mode, height: cursor.height, depth }, 'scanner halted')
}

/** Closes the exceptions opened while the chain stood still, by any process. */
export async function reportMoving({ deps, source }: ScanSession): Promise<void> {
  await deps.exceptions.close([stuckRowId(source)], deps.clock.now())
}

/** Resumes after a halt when the node has the scanned block again, or another development chain. Returns whether it does. */
export async function resumeHalted(session: ScanSession): Promise<boolean> {
  const { deps, source, cursor } = session
  if (await isReplaced(session)) {
    await restartChain(session)
    return true
  }
  const { mode, network } = source
  const block = await source.client.blockAt(cursor.height)
  deps.metrics.gauge('scanner_halted', block?.hash === cursor.hash ? 0 : 1, { mode, network })
  if (block?.hash !== cursor.hash) return false
  await moveCursor(session, { status: 'catchup', haltReason: null })
  await reportMoving(session)
  deps.logger.warn({ network, mode, height: cursor.height }, 'scanner resumes: the node is back on the scanned chain')
  return true
}

/**
 * Whether a development chain was replaced by another one: its first block differs. A fork, however deep, and a node
 * that lost its newest blocks are the same chain. Never called in production, where another first block is a mismatch.
 */
export async function isReplaced({ source, cursor }: ScanSession): Promise<boolean> {
  return source.development && (await source.client.genesisHash()) !== cursor.genesisHash
}

/**
 * Development only: the node is on another chain. Its first block becomes the cursor (its head where the first one
 * is unavailable), then unconfirmed payments are orphaned. After a crash between the two the next session repeats both.
 */
export async function restartChain(session: ScanSession): Promise<void> {
  const { deps, source, cursor } = session
  const { mode, network } = source
  const { client } = source
  const first =
    (await client.blockAt(0)) ?? (client.hasGaps ? await client.blockAt((await client.head()).height) : null)
  if (first === null) throw new NodeUnreliable('the node has no block 0')
  const genesisHash = await client.genesisHash()
  // The cursor goes first: if payments were orphaned below it, and the node returned to the previous chain, their blocks would
  // not be read again. Until then the cursor is on no chain, so that the next session starts here again, whichever chain the node has.
  await moveCursor(session, {
    height: first.height,
    hash: first.hash,
    time: first.time,
    window: [[first.height, first.hash]],
    ...looksUpTo(cursor, first),
    finalizedHeight: null,
    advancedAt: deps.clock.now(),
    ...(cursor.atHeadAt !== undefined && { atHeadAt: Math.min(cursor.atHeadAt, first.time) }),
    ...(cursor.trouble != null && { trouble: null }),
    genesisHash: NO_CHAIN,
    measured: UNMEASURED,
    status: 'catchup',
    haltReason: null,
    recheckThrough: null,
    ...(cursor.mempoolAt !== undefined && { mempoolAt: Math.min(cursor.mempoolAt, first.time) }),
  })
  assertHeld(session)
  const changed = await orphanPayments(deps, { ...writeScope(session), forkHeight: -1, unconfirmedOnly: true })
  session.unconfirmed = undefined
  await moveCursor(session, { genesisHash })
  await reportMoving(session)
  deps.metrics.gauge('scanner_halted', 0, { mode, network })
  deps.metrics.count('scanner_restart_total', { mode, network })
  deps.logger.error(
    { network, mode, previousHeight: cursor.height, payments: changed.length },
    'the development chain was replaced: scanning it from its first block',
  )
}

/** A bounded set of label values. */
function depthLabel(depth: number): string {
  if (depth <= 3) return String(depth)
  return depth <= 10 ? '4-10' : '11+'
}
