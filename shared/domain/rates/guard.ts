import type { Ms } from '#shared/domain/invoice/model.ts'
import { type Decimal, formatDecimal, parseDecimal } from '#shared/domain/money/money.ts'
import { STABLECOINS } from './crypto-board.ts'
import { deviatesMoreThan } from './price.ts'

/** A price that passed, and when. Prices are canonical decimal strings. */
interface PastPrice {
  readonly price: string
  readonly at: Ms
}

/**
 * State of the guards for one symbol or fiat series between cycles. It is part of the published snapshot, so
 * that a new process continues where the last one ended.
 */
export interface GuardMemory {
  /** The last price that passed the jump guard; published unless a peg stopped it. */
  readonly last: PastPrice
  /** At most two prices that passed, oldest first and a quarter of an hour apart: the first is 15 to 30 minutes old, or the first one ever. */
  readonly quarter: readonly PastPrice[]
  /** The same a day apart: the first is 24 to 48 hours old, or the first one ever. */
  readonly day: readonly PastPrice[]
  /** A price too far from one of these, as seen in the last cycle, and since when there is one. Null while the price is near all of them. */
  readonly candidate: (PastPrice & { readonly since: Ms }) | null
  /** Set while a stablecoin is stopped: since when it is back inside 2 %, cycle by cycle, or null while it is not. */
  readonly stopped: { readonly insideSince: Ms | null } | null
}

/** Result for a price in this cycle. `reason` is null when it is published without remark. */
export interface GuardVerdict {
  readonly publish: boolean
  readonly reason: 'jump_pending' | 'jump_refused' | 'jump_contradicted' | 'depeg_warning' | 'depeg_stopped' | null
  readonly memory: GuardMemory
}

const JUMP: Decimal = { digits: 10n, scale: 2 }
const FAR: Decimal = { digits: 30n, scale: 2 }
/** Two cycles "see the same price" when they are this close together. */
const SAME_JUMP: Decimal = { digits: 10n, scale: 2 }
/** Cycles that are further apart are not consecutive: eight of them. */
const CONSECUTIVE_MS = 2 * 60 * 1000
/** A response nearer than this to the cycle before is of the same moment: processes overlap or start again, and tables are requested once a minute. */
const LATER_MS = 5_000
const QUARTER_MS = 15 * 60 * 1000
const DAY_MS = 24 * 60 * 60 * 1000

const PAR: Decimal = { digits: 1n, scale: 0 }
const PEG_WARN: Decimal = { digits: 1n, scale: 2 }
const PEG_STOP: Decimal = { digits: 3n, scale: 2 }
const PEG_BACK: Decimal = { digits: 2n, scale: 2 }
const PEG_BACK_MS = 10 * 60 * 1000

/** One fresh consensus price to be checked before publication. */
export interface GuardInput {
  /** Symbol or fiat series; stablecoins are also checked against their peg. */
  readonly name: string
  readonly price: Decimal
  readonly now: Ms
  /** When the last response that is part of the price was received. */
  readonly receivedAt: Ms
  /** Null when this name was never published. */
  readonly memory: GuardMemory | null
  /** A second opinion on this price: true = it agrees, false = it contradicts, null = there is none. */
  readonly confirmed: boolean | null
}

/**
 * Decides whether a price may be published. A median does not detect a majority with the same error, in one step or in many small ones. So a price more than
 * 10 % from the last accepted one, or from that of a quarter of an hour ago, must be seen in two consecutive cycles, with a response 5 s later than the first of them, and not be contradicted by a second
 * opinion, and one more than 30 % from either, or from that of a day ago, must be confirmed by one as well, however long it lasts.
 * A stablecoin further than 3 % from one dollar stops until it was inside 2 % for ten minutes. Prices are never
 * clamped: they are published as the market gives them or not at all.
 */
export function guard(input: GuardInput): GuardVerdict {
  const jump = guardJump(input)
  if (!jump.publish || !STABLECOINS.has(input.name)) return jump
  return guardPeg(input, jump.memory)
}

/** Whether a verdict doubts the price itself, so that nothing may be computed with it; a lost peg is no such doubt. */
export function isJump({ publish, reason }: GuardVerdict): boolean {
  return !publish && reason !== 'depeg_stopped'
}

/** The price that the jump guard held back in the cycle of `at`, and since when; null when it held none, or the sources agreed on none. */
export function waitingJump(memory: GuardMemory | undefined, at: Ms): GuardMemory['candidate'] {
  if (memory === undefined || memory.candidate === null || memory.candidate.at !== at) return null
  return memory.candidate.at > memory.last.at ? memory.candidate : null
}

/** Whether a stablecoin is stopped in the cycle of `at`: its sources agree, and on a price that is off its peg or was within ten minutes. */
export function isOffPeg(memory: GuardMemory | undefined, at: Ms): boolean {
  return memory !== undefined && memory.stopped !== null && memory.last.at === at
}

function guardJump(input: GuardInput): GuardVerdict {
  const { price, now, memory, confirmed } = input
  const seen: PastPrice = { price: formatDecimal(price), at: now }
  const stopped = memory?.stopped ?? null
  const first: GuardVerdict = {
    publish: true,
    reason: null,
    memory: { last: seen, quarter: [seen], day: [seen], candidate: null, stopped },
  }
  if (memory === null || isForgotten(memory, now)) return first
  const distance = distanceOf(price, memory)
  const passed: GuardMemory = {
    ...{ last: seen, stopped },
    quarter: movedOn(memory.quarter, seen, QUARTER_MS),
    day: movedOn(memory.day, seen, DAY_MS),
    candidate: null,
  }
  if (distance === 'near') return { publish: true, reason: null, memory: passed }
  const candidate = { ...seen, since: memory.candidate?.since ?? now }
  const held = (reason: GuardVerdict['reason']): GuardVerdict => ({
    publish: false,
    reason,
    memory: { ...memory, candidate },
  })
  if (distance === 'far' && confirmed !== true) return held('jump_refused')
  if (confirmed === false) return held('jump_contradicted')
  if (!wasSeen(input, memory)) return held('jump_pending')
  // A confirmed price is the new truth. One that nobody confirmed is not: it stays a candidate, so that it is not held back again in the next cycle.
  return confirmed ? first : { publish: true, reason: null, memory: { ...passed, candidate } }
}

/** Nothing was accepted, or held back, for a day: there is nothing left to compare with. */
function isForgotten({ last, candidate }: GuardMemory, now: Ms): boolean {
  return now - (candidate ?? last).at > DAY_MS && now - last.at > DAY_MS
}

function distanceOf(price: Decimal, { last, quarter, day }: GuardMemory): 'near' | 'jump' | 'far' {
  const recent = [last, ...quarter.slice(0, 1)]
  const isBeyond = (limit: Decimal) => (past: PastPrice) => deviatesMoreThan(price, parseDecimal(past.price), limit)
  if ([...recent, ...day.slice(0, 1)].some(isBeyond(FAR))) return 'far'
  return recent.some(isBeyond(JUMP)) ? 'jump' : 'near'
}

function wasSeen({ price, now, receivedAt }: GuardInput, { last, candidate }: GuardMemory): boolean {
  if (candidate === null || now - candidate.at > CONSECUTIVE_MS) return false
  // One that passed in the last cycle was seen later already.
  if (candidate.at !== last.at && receivedAt < candidate.at + LATER_MS) return false
  return !deviatesMoreThan(price, parseDecimal(candidate.price), SAME_JUMP)
}

/** The prices to compare with from now on: a second one when the newest has the age, in place of the first once it has it too. */
function movedOn(past: readonly PastPrice[], seen: PastPrice, everyMs: Ms): readonly PastPrice[] {
  const newest = past.at(-1)
  return newest !== undefined && seen.at - newest.at < everyMs ? past : [...past.slice(-1), seen]
}

function guardPeg({ price, now, memory: before }: GuardInput, memory: GuardMemory): GuardVerdict {
  const stopped = before?.stopped ?? null
  if (deviatesMoreThan(price, PAR, PEG_STOP)) {
    return { publish: false, reason: 'depeg_stopped', memory: { ...memory, stopped: { insideSince: null } } }
  }
  if (stopped !== null) {
    // Ten minutes inside 2 % are observed, not assumed of a time in which the sources agreed on nothing.
    const isObserved = before !== null && now - before.last.at <= CONSECUTIVE_MS
    const since = isObserved ? stopped.insideSince : null
    const insideSince = deviatesMoreThan(price, PAR, PEG_BACK) ? null : (since ?? now)
    if (insideSince === null || now - insideSince < PEG_BACK_MS) {
      return { publish: false, reason: 'depeg_stopped', memory: { ...memory, stopped: { insideSince } } }
    }
  }
  const reason = deviatesMoreThan(price, PAR, PEG_WARN) ? 'depeg_warning' : null
  return { publish: true, reason, memory: { ...memory, stopped: null } }
}
