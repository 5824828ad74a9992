import type { StuckNetwork } from '#shared/contracts/chain-status.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ChainCursor, ScanTrouble } from '#shared/ports/cursors.ts'
import { lagMarkMs, RESTING_MS } from './network-lag.ts'

/** One block that fails for longer than this makes a network stuck; so does a lease without a holder. */
const FAILING_MS = 60_000
/** A silent node, or a scan that does not move although the head is ahead, for longer than this. */
const STILL_MS = 120_000

/** Input of the check besides the cursor. */
export interface StuckScene {
  readonly now: Ms
  readonly hasNode: boolean
  readonly blockTimeMs: number
}

type Finding = readonly [cause: StuckNetwork['cause'], since: Ms, sentence: string]

/**
 * Whether a network's cursor does not advance, and why: the most specific cause first. Null when it advances or has nothing to
 * read. Only people, alerts and releases use it; deadlines wait for the cursor in any case. Pure.
 */
export function stuckNetwork(cursor: ChainCursor, scene: StuckScene): StuckNetwork | null {
  const found = scene.hasNode
    ? (stopped(cursor) ??
      failing(cursor, scene) ??
      unattended(cursor, scene) ??
      still(cursor, scene) ??
      incomplete(cursor) ??
      unprovable(cursor, scene))
    : withoutNode(cursor)
  if (found === null) return null
  const [cause, since, sentence] = found
  return { cause, since, sentence, advice: ADVICE[cause] }
}

/** Names the block, the method, the cause and the host of a failure, in one sentence. Pure. */
export function troubleSentence({ kind, height, method, reason, host }: ScanTrouble): string {
  const at = host === null || reason.includes(host) ? '' : ` (${host})`
  if (kind === 'mismatch') return `The node was rejected${at}: ${reason}.`
  const call = method === null || reason.startsWith(method) ? '' : `${method}: `
  if (kind === 'silent') return `The node does not respond${at}: ${call}${reason}.`
  return `Block ${height} cannot be read${at}: ${call}${reason}.`
}

function withoutNode(cursor: ChainCursor): Finding | null {
  // Simulated invoices of a test network need no node; live money on a network that nobody reads does.
  if (cursor.mode === 'test') return null
  return ['no_node', cursor.headSeenAt, 'Its node was removed from the configuration, so no scanner runs for it.']
}

function stopped({ status, haltReason, advancedAt, time }: ChainCursor): Finding | null {
  return status === 'halted' ? ['halted', advancedAt ?? time, haltReason ?? 'The scanner stopped itself.'] : null
}

function failing({ trouble }: ChainCursor, { now }: StuckScene): Finding | null {
  if (trouble == null || now - trouble.firstAt <= FAILING_MS) return null
  const causes = {
    mismatch: 'node_refused',
    silent: 'node_silent',
    node: 'block_unreadable',
    other: 'scan_failed',
  } as const
  // Recorded by a scanner that has died since: the missing scanner is the cause to report.
  if (now - trouble.lastAt > STILL_MS) return null
  return [causes[trouble.kind], trouble.firstAt, troubleSentence(trouble)]
}

function unattended({ lease, headSeenAt, trouble }: ChainCursor, { now }: StuckScene): Finding | null {
  if (lease !== null && lease.until > now) return null
  const since = Math.max(headSeenAt, lease?.until ?? 0, trouble?.lastAt ?? 0)
  if (now - since <= FAILING_MS) return null
  const before = trouble == null ? '' : ` Before that: ${troubleSentence(trouble)}`
  return ['no_scanner', since, `No scanner is running for this network.${before}`]
}

function incomplete({ skipped }: ChainCursor): Finding | null {
  if (skipped == null) return null
  const { from, to, since, at, by } = skipped
  const sentence = `Blocks ${from} to ${to} were skipped by ${by}: no node had them any more. Payments are stored, but deadlines after ${new Date(since).toISOString()} wait.`
  return ['blocks_skipped', at, sentence]
}

/** Blocks pass, but deadlines in them do not. */
function unprovable(cursor: ChainCursor, { now }: StuckScene): Finding | null {
  const { unproven } = cursor
  return unproven == null || now - unproven <= STILL_MS ? null : waitingFound(cursor, unproven)
}

function still(cursor: ChainCursor, { now, blockTimeMs }: StuckScene): Finding | null {
  const { height, headHeight, headSeenAt, advancedAt, atHeadAt, trouble, time } = cursor
  // A cursor of an older release does not record when it moved.
  const movedAt = Math.max(advancedAt ?? headSeenAt, atHeadAt ?? 0, trouble?.firstAt ?? 0)
  const isAhead = headHeight > height
  if (cursor.source === 'thrifty') return resting(cursor, { now, blockTimeMs })
  if (now - Math.max(headSeenAt, trouble?.lastAt ?? 0) > STILL_MS) {
    return waitingFound(cursor, headSeenAt) ?? ['node_silent', headSeenAt, silenceSentence(cursor)]
  }
  if (isAhead && now - movedAt > STILL_MS) {
    const sentence = `The node is at block ${headHeight}, but the scan has stopped at block ${height}.`
    return waitingFound(cursor, movedAt) ?? ['no_progress', movedAt, sentence]
  }
  const { mempoolAt } = cursor
  if (mempoolAt !== undefined && !isAhead && now - mempoolAt > lagMarkMs(blockTimeMs)) {
    const sentence = `The node serves blocks, but has not returned its complete mempool since ${new Date(mempoolAt).toISOString()}.`
    return ['no_progress', mempoolAt, sentence]
  }
  const newest = Math.max(advancedAt ?? time, time)
  if (cursor.mode !== 'live' || isAhead || now - newest <= lagMarkMs(blockTimeMs)) return null
  return ['no_new_block', newest, `The node has returned no block above ${height}. It may have stopped syncing.`]
}

/** A thrifty network answers rarely, and its cursor rests while no invoice is open: neither is a fault. */
function resting(cursor: ChainCursor, { now, blockTimeMs }: Pick<StuckScene, 'now' | 'blockTimeMs'>): Finding | null {
  const { headSeenAt, headTime, trouble, mode, headHeight } = cursor
  if (now - Math.max(headSeenAt, trouble?.lastAt ?? 0) > RESTING_MS + STILL_MS) {
    return waitingFound(cursor, headSeenAt) ?? ['node_silent', headSeenAt, silenceSentence(cursor)]
  }
  if (typeof cursor.waitReason === 'string') return waitingFound(cursor, headSeenAt)
  if (mode !== 'live' || headTime === undefined || headSeenAt - headTime <= lagMarkMs(blockTimeMs)) return null
  return ['no_new_block', headTime, `The node has returned no block above ${headHeight}. It may have stopped syncing.`]
}

function waitingFound({ waitReason }: ChainCursor, since: Ms): Finding | null {
  return typeof waitReason === 'string' ? ['nodes_disagree', since, waitReason] : null
}

function silenceSentence({ trouble, height }: ChainCursor): string {
  const before = trouble == null ? '' : ` ${troubleSentence(trouble)}`
  return `The scanner has received no usable response from the node. The scan has stopped at block ${height}.${before}`
}

const ADVICE: Readonly<Record<StuckNetwork['cause'], string>> = {
  halted:
    'Compare the block with another node. Repair or replace your node, or accept the other chain with "paymesh chain resume --accept-reorg".',
  node_refused: 'Correct its URL, chain id or token addresses in PAYMESH_NETWORKS and restart the scanner.',
  block_unreadable:
    'Try this method for this block on another node. Add a node that supports it to PAYMESH_NETWORKS and restart the scanner. Only where no node has the block any more, because all are pruned: "paymesh chain skip".',
  blocks_skipped:
    'Compare open invoices with what the inbox row about these blocks names, then let their deadlines pass: "paymesh chain release-deadlines --through 0m".',
  scan_failed:
    'Look for "scanning failed" in the log of the scanner, and report it. Scanning waits at this block until it is fixed.',
  no_scanner: 'Start a scanner process for this network, or find out why it stops.',
  nodes_disagree: 'Compare the nodes at this block. Remove the wrong one from PAYMESH_NETWORKS, or add a third.',
  node_silent: 'Start the node, or correct its URL in PAYMESH_NETWORKS. Add a second node, so that one may fail.',
  no_progress: 'Check the scanner log, and request the next block from the node.',
  no_new_block: 'Compare the node’s head with a block explorer. Restart or replace a node that stopped syncing.',
  no_node: 'Add a node for it to PAYMESH_NETWORKS.',
}
