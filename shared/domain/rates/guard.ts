import type { Ms } from '#shared/domain/invoice/model.ts'
import { type Decimal, formatDecimal, parseDecimal } from '#shared/domain/money/decimal.ts'
import { STABLECOINS } from './crypto-board.ts'
import { deviatesMoreThan } from './price.ts'

/**
 * State of the guards for one symbol or fiat series between cycles. It is part of the published snapshot, so
 * that a new process continues where the last one ended. Prices are canonical decimal strings.
 */
export interface GuardMemory {
  /** The last price that passed the jump guard; published unless a peg stopped it. */
  readonly reference: string
  readonly referenceAt: Ms
  /** A price further than 10 % from the reference, waiting for its second cycle. */
  readonly candidate: string | null
  /** Set while a stablecoin is stopped: since when it is back inside 2 %, or null while it is not. */
  readonly stopped: { readonly insideSince: Ms | null } | null
}

/** Result for a price in this cycle. `reason` is null when it is published without remark. */
export interface GuardVerdict {
  readonly publish: boolean
  readonly reason: 'jump_pending' | 'jump_refused' | 'depeg_warning' | 'depeg_stopped' | null
  readonly memory: GuardMemory
}

const JUMP: Decimal = { digits: 10n, scale: 2 }
const REFUSED_JUMP: Decimal = { digits: 30n, scale: 2 }
/** Two cycles "see the same price" when they are this close together. */
const SAME_JUMP: Decimal = { digits: 10n, scale: 2 }
/** After a day without a published price there is nothing left to compare with. */
const REFERENCE_MS = 24 * 60 * 60 * 1000

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
  /** Null when this name was never published. */
  readonly memory: GuardMemory | null
  /** An aggregator or an operator agrees with this price, so that a jump beyond 30 % may pass. */
  readonly confirmed: boolean
}

/**
 * Decides whether a price may be published. A median does not detect a majority with the same error, so a move of more than
 * 10 % from the last accepted price must be seen in two consecutive cycles and one of more than 30 % be confirmed as
 * well; a stablecoin further than 3 % from one dollar stops until it was inside 2 % for ten minutes. Prices are never
 * clamped: they are published as the market gives them or not at all.
 */
export function guard(input: GuardInput): GuardVerdict {
  const jump = guardJump(input)
  if (!jump.publish || !STABLECOINS.has(input.name)) return jump
  return guardPeg(input, jump.memory)
}

function guardJump({ price, now, memory, confirmed }: GuardInput): GuardVerdict {
  const stopped = memory?.stopped ?? null
  const accepted: GuardVerdict = {
    publish: true,
    reason: null,
    memory: { reference: formatDecimal(price), referenceAt: now, candidate: null, stopped },
  }
  if (memory === null || now - memory.referenceAt > REFERENCE_MS) return accepted
  const reference = parseDecimal(memory.reference)
  if (!deviatesMoreThan(price, reference, JUMP)) return accepted
  const waiting = { ...memory, candidate: formatDecimal(price) }
  if (deviatesMoreThan(price, reference, REFUSED_JUMP) && !confirmed) {
    return { publish: false, reason: 'jump_refused', memory: waiting }
  }
  const seenBefore = memory.candidate !== null && !deviatesMoreThan(price, parseDecimal(memory.candidate), SAME_JUMP)
  return seenBefore ? accepted : { publish: false, reason: 'jump_pending', memory: waiting }
}

function guardPeg({ price, now, memory: before }: GuardInput, memory: GuardMemory): GuardVerdict {
  const stopped = before?.stopped ?? null
  if (deviatesMoreThan(price, PAR, PEG_STOP)) {
    return { publish: false, reason: 'depeg_stopped', memory: { ...memory, stopped: { insideSince: null } } }
  }
  if (stopped !== null) {
    const insideSince = deviatesMoreThan(price, PAR, PEG_BACK) ? null : (stopped.insideSince ?? now)
    if (insideSince === null || now - insideSince < PEG_BACK_MS) {
      return { publish: false, reason: 'depeg_stopped', memory: { ...memory, stopped: { insideSince } } }
    }
  }
  const reason = deviatesMoreThan(price, PAR, PEG_WARN) ? 'depeg_warning' : null
  return { publish: true, reason, memory: { ...memory, stopped: null } }
}
