import { SCARCE } from '#shared/domain/scarce.ts'
import { createSlots, type SlotLimits, type Slots } from './slots.ts'

/**
 * What one owner may have done of each kind of expensive work. People at a page stay far below; a script is refused before the work, and
 * nobody else waits for it. Passwords count against the log-in, as its lane does, and log-ins themselves wait in lanes instead (decision 0026). A
 * mailed link is its own owner: it works once, and an invented one reaches no hash.
 */
const WORK_BUDGETS = {
  image: SCARCE.pictures.budget,
  hash: SCARCE.passwordHashes.budget,
  link: SCARCE.linkHashes.budget,
  export: SCARCE.exports.budget,
  wallet: SCARCE.walletReadings.budget,
  nodes: SCARCE.nodeSearches.budget,
} satisfies Readonly<Record<string, SlotLimits>>

/** A kind of expensive work. */
export type Work = keyof typeof WORK_BUDGETS

/** The kinds of expensive work. */
const WORKS = Object.keys(WORK_BUDGETS) as readonly Work[]

/** The budget of a kind of work. */
export const budgetOf = (work: Work): SlotLimits => WORK_BUDGETS[work]

/** Budgets of one process; `now` is monotonic milliseconds. */
export function createWorkBudgets(now?: () => number) {
  const slots = Object.fromEntries(WORKS.map((work) => [work, createSlots(budgetOf(work), now)])) as Record<Work, Slots>
  return {
    /** Takes a place for a piece of work and returns a function that releases it. Throws `RATE_LIMITED` beyond the budget of this owner. */
    enter: (work: Work, ownerId: string): (() => void) => slots[work].enter(ownerId),
  }
}
