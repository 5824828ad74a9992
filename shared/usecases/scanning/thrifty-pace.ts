import type { Ms } from '#shared/domain/invoice/model.ts'
import type { BlockPlace, Holdings } from '#shared/ports/account-reader.ts'
import type { LookPlace, Looks } from '#shared/ports/cursors.ts'
import { RESTING_MS } from '#shared/usecases/networks/network-lag.ts'

/** Between two looks at addresses that no open invoice holds, milliseconds. */
export interface LookPace {
  /** Addresses whose invoice ended in the last day. */
  readonly endedLookMs: number
  /** Addresses in memory: those that may still get late money, and listed ones. */
  readonly allLookMs: number
  /** The same and addresses that left memory in the last year. */
  readonly weekLookMs: number
  /** Every address. */
  readonly monthLookMs: number
  /**
   * An invoice may be stored, and its address shown, this much before its time says so, beside what the clocks of chain and store are seen to
   * differ. Blocks younger than that before an invoice are read for it.
   */
  readonly marginMs: number
}

/** How often a thrifty scanner asks its nodes, milliseconds. */
export interface ThriftyPace extends LookPace {
  /** Without open invoices: the head and its finality. */
  readonly restMs: number
  /** With open invoices: their balances. */
  readonly openMs: number
  /** While somebody watches a page. */
  readonly watchedMs: number
  /** When most of the quota is used, with or without payers on the page. */
  readonly slowMs: number
  /**
   * While a payment is unconfirmed, between two moves of the cursor at most, or half of the wait that is left where that is longer, five minutes at most: one that
   * disappears from an open invoice's address shows in its balance before that.
   */
  readonly confirmMs: number
  /** Between two attempts while nothing is open and the last range could not be read. */
  readonly troubleMs: number
  /** Usual time between two blocks. */
  readonly blockTimeMs: number
  /** Most time in which pages set the pace: this much of each hour, an hour's worth saved up at most twice. */
  readonly watchedPerHourMs: number
  /** Whether the network's quota is nearly used up. */
  isNearlySpent(): Promise<boolean>
}

const DAY_MS = 24 * 3_600_000

/** The usual pace of looks on every network. */
export const USUAL_LOOKS: LookPace = {
  endedLookMs: 3_600_000,
  allLookMs: DAY_MS,
  weekLookMs: 7 * DAY_MS,
  monthLookMs: 30 * DAY_MS,
  marginMs: 10_000,
}

/** The usual pace of a network; `watchedMs` follows its blocks. */
export function usualPace(blockTimeMs: number, isNearlySpent: ThriftyPace['isNearlySpent']): ThriftyPace {
  return {
    ...USUAL_LOOKS,
    restMs: RESTING_MS,
    openMs: 26_000,
    watchedMs: Math.max(2_000, Math.min(blockTimeMs + 1_000, 12_000)),
    slowMs: 60_000,
    confirmMs: 60_000,
    troubleMs: 30_000,
    blockTimeMs,
    watchedPerHourMs: 15 * 60_000,
    isNearlySpent,
  }
}

/** Between two moves of the cursor while a payment waits for something else than blocks. */
const SETTLING_MS = 10_000
/** A long wait for blocks rests for half of what is left of it, and this long at most. */
const CONFIRM_MAX_MS = 300_000
/** Longest time that one step counts as watched. */
const STEP_MAX_MS = 60_000
/** Hours of watched time that may be saved up. */
const SAVED_HOURS = 2

/** What a thrifty scanner remembers between two steps; all of it may be lost. */
export interface ThriftyState {
  /** Balances of open watches at the end of the last range; they mean nothing once the cursor is at another block. */
  baseline: Baseline | null
  requestedAt: Ms
  /** Time of the newest block at which a look saw no change since the cursor's; 0 = none did. */
  sameAt: Ms
  movedAt: Ms
  /** The least age of a head, milliseconds, and when it was seen. */
  skew: { readonly ms: Ms; readonly at: Ms }
  /** Watched time that is left, milliseconds, and when that was true. */
  watchedLeftMs: number
  watchedAt: Ms
}

/** Balances at a block, and whatever else the next question can begin with. */
export interface Baseline {
  readonly hash: string
  readonly holdings: Holdings
  readonly state: Holdings
}

/** A look that has begun: for every address it begins at `from` and ends at `to`. */
export interface LookProgress {
  readonly kind: keyof Looks
  readonly from: LookPlace
  readonly to: LookPlace
  readonly keys: Iterator<string> | AsyncIterator<string>
  /** Every block up to `to` was read: only balances there are compared, with all that was ever paid. */
  readonly isRead: boolean
  /** The addresses of the next question and how far they were looked at; undefined between two pages. */
  page: { readonly from: BlockPlace; readonly matchKeys: readonly string[]; readonly isLast: boolean } | undefined
}

/** Nothing is known yet. */
export const freshState = (now: Ms, { watchedPerHourMs }: ThriftyPace): ThriftyState => ({
  baseline: null,
  requestedAt: Number.NEGATIVE_INFINITY,
  sameAt: 0,
  movedAt: Number.NEGATIVE_INFINITY,
  skew: { ms: Number.POSITIVE_INFINITY, at: Number.NEGATIVE_INFINITY },
  watchedLeftMs: SAVED_HOURS * watchedPerHourMs,
  watchedAt: now,
})

/** What a step depends on. */
export interface PaceScene {
  readonly now: Ms
  /** Time of the cursor's block; test networks at their head count as later. */
  readonly scannedThrough: Ms
  readonly hasTrouble: boolean
  /** Hash of the cursor's block. */
  readonly hash: string
  readonly open: readonly { readonly matchKey: string; readonly expiresAt: Ms }[]
  /** Blocks until a payment may be confirmed; 0 when one waits for something else; null when none is unconfirmed. */
  readonly blocksToConfirm: number | null
  readonly isWatched: boolean
  readonly isNearlySpent: boolean
}

/**
 * What to do now. `wait`: nothing. `rest`: the head and finality. `glance`: compare the balances of open watches. `move`: read the range
 * up to the head. `end`: the same because a deadline has passed. Pure.
 */
export type PaceStep = 'wait' | 'rest' | 'glance' | 'move' | 'end'

/** Deadlines and open watches that were never read for come first, whatever the quota. Pure. */
export function nextStep(pace: ThriftyPace, state: ThriftyState, scene: PaceScene): PaceStep {
  const { now, open, blocksToConfirm, scannedThrough } = scene
  const sinceMove = now - state.movedAt
  // A head that shows the deadline's block exists a block later.
  const isOver = ({ expiresAt }: { readonly expiresAt: Ms }) =>
    expiresAt > scannedThrough && expiresAt + pace.blockTimeMs <= now
  if (open.some(isOver)) return sinceMove >= Math.min(pace.troubleMs, 2 * pace.blockTimeMs) ? 'end' : 'wait'
  const known = state.baseline?.hash === scene.hash ? state.baseline.holdings : null
  const isNew = open.some(({ matchKey }) => known?.has(matchKey) !== true)
  if (isNew || (scene.hasTrouble && open.length > 0)) return sinceMove >= pace.watchedMs ? 'move' : 'wait'
  if (blocksToConfirm !== null) {
    // One that has enough blocks waits for finality or for a second node.
    const expectedMs =
      blocksToConfirm === 0 ? Math.max(pace.blockTimeMs, SETTLING_MS) : blocksToConfirm * pace.blockTimeMs
    // A pace that was measured wrongly costs a while and no more.
    const longMs = Math.min(expectedMs / 2, CONFIRM_MAX_MS)
    if (sinceMove >= Math.max(pace.watchedMs, Math.min(expectedMs, Math.max(pace.confirmMs, longMs)))) return 'move'
  }
  if (open.length > 0) return now - state.requestedAt >= glanceEvery(pace, scene) ? 'glance' : 'wait'
  if (scene.hasTrouble) return sinceMove >= pace.troubleMs ? 'move' : 'wait'
  if (blocksToConfirm !== null) return 'wait'
  return now - state.requestedAt >= pace.restMs ? 'rest' : 'wait'
}

function glanceEvery(pace: ThriftyPace, { isWatched, isNearlySpent }: PaceScene): number {
  if (isNearlySpent) return pace.slowMs
  return isWatched ? pace.watchedMs : pace.openMs
}

/** Takes watched time from what is left, so that pages held open for long cannot set the pace for ever. True while there is some. */
export function spendAttention(pace: ThriftyPace, state: ThriftyState, now: Ms, isRequested: boolean): boolean {
  const passedMs = Math.max(0, now - state.watchedAt)
  const earned = state.watchedLeftMs + (passedMs * pace.watchedPerHourMs) / 3_600_000
  const hasTime = state.watchedLeftMs > 0
  const spent = isRequested && hasTime ? Math.min(passedMs, STEP_MAX_MS) : 0
  state.watchedAt = now
  // What a step took too much is paid back before pages count again.
  state.watchedLeftMs = Math.min(earned - spent, SAVED_HOURS * pace.watchedPerHourMs)
  return isRequested && hasTime
}
