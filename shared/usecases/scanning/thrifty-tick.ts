import type { Ms } from '#shared/domain/invoice/model.ts'
import { growthBetween } from '#shared/ports/account-reader.ts'
import type { WatchedMethod } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { knownUntil } from '#shared/usecases/networks/known-until.ts'
import { isRereading } from '#shared/usecases/networks/network-lag.ts'
import { proveDeadlines } from './prove-deadlines.ts'
import { moveCursor, type ScanSession } from './scan-session.ts'
import { type Head, headFields, scanTick, walkBack } from './scan-tick.ts'
import { extendWindow } from './scan-window.ts'
import { lookAround } from './thrifty-looks.ts'
import {
  freshState,
  nextStep,
  type PaceStep,
  spendAttention,
  type ThriftyPace,
  type ThriftyState,
} from './thrifty-pace.ts'
import { readAgain, readRange, rememberedBelow, skewMs } from './thrifty-range.ts'
import { leastOf, openWatches } from './thrifty-reads.ts'

/** Higher than any block. */
const EVERY_HEIGHT = Number.MAX_SAFE_INTEGER
/** How often the cursor records that the node answers while nothing moves. */
const HEARTBEAT_MS = 15_000
/** A head whose time differs more than this from the clock: times prove nothing about what was shown before which block. */
const FRESH_MS = 30_000

/**
 * One step of thrifty scanning: nothing, a look at balances, or a move of the cursor over a range of which only some blocks are read
 * (decision 70). Returns false when there was nothing to do. Blocks that the cursor was sent back over are all read.
 */
export async function thriftyTick(session: ScanSession): Promise<boolean> {
  const { cursor, deps, source } = session
  const { thrifty: pace } = source
  if (pace === undefined) throw new TypeError('the network is not scanned thriftily')
  const now = deps.clock.now()
  const state = stateOf(session, pace)
  if (isRereading(cursor)) {
    const moved = await scanTick(session, readAgain)
    return (await proveDeadlines(session)) || moved
  }
  const open = await openWatches(session)
  const pending = await unconfirmedPayments(session)
  // Once enough money is there, a page waits for confirmations alone, and those have their own pace.
  const isAwaited = open.some(({ isUnpaid }) => isUnpaid)
  const isWatched = spendAttention(pace, state, now, isAwaited && (session.attention?.until ?? 0) > now)
  const step = nextStep(pace, state, {
    now,
    hash: cursor.hash,
    scannedThrough: knownUntil(cursor, pace.blockTimeMs),
    hasTrouble: cursor.trouble != null || cursor.status === 'halted',
    open,
    blocksToConfirm: blocksToConfirm(session, pending),
    isWatched,
    isNearlySpent: await pace.isNearlySpent(),
  })
  if (await carryOut(session, { step, open, now, state, pace })) return true
  return lookAround(session, pace)
}

function stateOf(session: ScanSession, pace: ThriftyPace): ThriftyState {
  const now = session.deps.clock.now()
  session.thrifty ??= freshState(now, pace)
  const state = session.thrifty
  // The store's clock went back, or its primary is another machine now: waiting for the old time would be blindness for as long as the step.
  if (now < state.watchedAt) {
    const { requestedAt, movedAt, skew } = freshState(now, pace)
    Object.assign(state, { requestedAt, movedAt, skew })
    delete session.lookAfter
  }
  return state
}

interface Work {
  readonly step: PaceStep
  readonly open: readonly WatchedMethod[]
  readonly now: Ms
  readonly state: ThriftyState
  readonly pace: ThriftyPace
}

async function carryOut(session: ScanSession, { step, open, now, state, pace }: Work): Promise<boolean> {
  if (step === 'wait') return false
  if (step === 'rest') {
    await scanTick(session, (one, head) => rest(one, head, { pace, readAt: now }))
    state.requestedAt = now
    return false
  }
  if (step === 'glance' && !(await hasChanged(session, open, now))) return false
  state.movedAt = now
  const from = session.cursor.height
  const moved = await scanTick(session, readRange)
  state.requestedAt = now
  // After what was read is stored: a look back that fails holds up deadlines only.
  if (await proveDeadlines(session)) {
    state.movedAt = Number.NEGATIVE_INFINITY
    return true
  }
  // A range that ended below the head, because a node lost its old balances or too many blocks concern us, is continued at once: at the pace
  // of steps a network that was away for a day would stay behind for hours.
  if (moved && session.cursor.height > from && session.cursor.height < session.cursor.headHeight) {
    state.movedAt = Number.NEGATIVE_INFINITY
  }
  return moved
}

const unconfirmedPayments = ({ deps, source }: ScanSession): Promise<readonly Payment[]> =>
  deps.payments.dueForConfirmation({
    mode: source.mode,
    network: source.network,
    height: EVERY_HEIGHT,
    finalizedHeight: EVERY_HEIGHT,
  })

/** Blocks between the cursor and the first height at which a payment may be confirmed; null without unconfirmed payments. */
function blocksToConfirm({ cursor }: ScanSession, pending: readonly Payment[]): number | null {
  if (pending.length === 0) return null
  const heights = pending.map(
    ({ block, requiredConfirmations }) => (block?.height ?? cursor.height) + requiredConfirmations - 1,
  )
  return Math.max(0, heights.reduce((lowest, height) => Math.min(lowest, height)) - cursor.height)
}

/** Compares balances with those at the end of the last range, and records that the node answers. */
async function hasChanged(session: ScanSession, open: readonly WatchedMethod[], now: Ms): Promise<boolean> {
  const { source, cursor, thrifty: state } = session
  const { accounts } = source.client
  if (accounts === undefined || state === undefined) return true
  const { time, holdings } = await accounts.glance(open.map(({ matchKey }) => matchKey))
  state.requestedAt = now
  const least = leastOf(session)
  const changed = [...holdings].some(([matchKey, figures]) => {
    const known = state.baseline?.holdings.get(matchKey)
    return known === undefined || figures.some((figure, at) => isChange(growthBetween(known[at], figure), least[at]))
  })
  if (!changed) state.sameAt = time
  if (!changed && now - cursor.headSeenAt >= HEARTBEAT_MS) {
    await moveCursor(session, { headSeenAt: now, headTime: Math.max(time, cursor.headTime ?? time) })
  }
  return changed
}

/** Dust is no reason to read anything; a balance that could not be read is. */
const isChange = (growth: bigint | null, least = 1n): boolean =>
  growth === null || (growth !== 0n && (growth >= least || -growth >= least))

interface RestTask {
  readonly pace: ThriftyPace
  /** When it was read that no invoice is open. */
  readonly readAt: Ms
}

/**
 * Passes blocks without questions while no invoice is open: to a final block, or one deeper than any reorganisation, that is older than every
 * invoice that may have been opened since `readAt`.
 */
async function rest(session: ScanSession, head: Head, { pace, readAt }: RestTask): Promise<boolean> {
  const { cursor, deps, source } = session
  const { client } = source
  const marginMs = pace.marginMs + skewMs(session, head)
  const marginBlocks = Math.ceil((1.5 * pace.marginMs) / pace.blockTimeMs)
  const settled = head.finalizedHeight ?? head.height - source.finalityDepth
  const height = Math.min(settled, head.height - marginBlocks)
  const isFresh = head.time !== undefined && Math.abs(deps.clock.now() - head.time) <= FRESH_MS
  const block = height > cursor.height && isFresh ? await client.blockAt(height) : null
  if (block === null || block.time > readAt - marginMs) {
    // Nobody asked whether the cursor's block is on the branch of this head: that its height is final says nothing about it.
    const { finalizedHeight: _, ...seen } = headFields(session, head)
    await moveCursor(session, { status: 'live', ...seen, ...passed(session) })
    return false
  }
  if ((await client.blockAt(cursor.height))?.hash !== cursor.hash) return walkBack(session, head)
  await moveCursor(session, {
    height: block.height,
    hash: block.hash,
    time: block.time,
    window: extendWindow(cursor.window, rememberedBelow(block), source.finalityDepth),
    status: 'live',
    advancedAt: deps.clock.now(),
    ...headFields(session, head),
    ...passed(session),
  })
  return true
}

const passed = ({ cursor }: ScanSession) => (cursor.trouble == null ? {} : { trouble: null })
