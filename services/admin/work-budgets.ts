import { createSlots, type SlotLimits } from './slots.ts'

const TEN_MINUTES_MS = 600_000

/**
 * What one person may have done of each kind of expensive work: at the same time, and begun within ten minutes. People at a page stay far
 * below; a script is refused before the work, and nobody else waits for it.
 */
export const WORK_BUDGETS = {
  /** Decoding a picture: up to 64 MB and 0.4 s of a thread. */
  image: { perOwnerMax: 1, begins: { max: 20, windowMs: TEN_MINUTES_MS } },
  /** Hashing a password (Argon2id) of a login, as its lane. Log-ins themselves wait in lanes instead (decision 0026). */
  hash: { perOwnerMax: 3, begins: { max: 40, windowMs: TEN_MINUTES_MS } },
  /** Hashing a password that is set through a mailed link. The link is the owner: it works once, and an invented one reaches no hash. */
  link: { perOwnerMax: 2 },
  /** A file of any length, read from the store. */
  export: { perOwnerMax: 2, begins: { max: 60, windowMs: TEN_MINUTES_MS } },
  /** Reading up to 10,000 addresses or signatures, or deriving addresses of a key. */
  wallet: { perOwnerMax: 10, begins: { max: 300, windowMs: TEN_MINUTES_MS } },
  /** A search that asks nodes. */
  nodes: { perOwnerMax: 4, begins: { max: 300, windowMs: TEN_MINUTES_MS } },
} satisfies Readonly<Record<string, SlotLimits>>

/** A kind of expensive work. */
export type Work = keyof typeof WORK_BUDGETS

/** The budgets of every person, in this process. */
export interface WorkBudgets {
  /** Takes a place for a piece of work and returns a function that releases it. Throws `RATE_LIMITED` beyond the budget of this owner. */
  enter(work: Work, ownerId: string): () => void
}

/** Budgets of one process; `now` is monotonic milliseconds. */
export function createWorkBudgets(now?: () => number): WorkBudgets {
  const slots = {
    image: createSlots(WORK_BUDGETS.image, now),
    hash: createSlots(WORK_BUDGETS.hash, now),
    link: createSlots(WORK_BUDGETS.link, now),
    export: createSlots(WORK_BUDGETS.export, now),
    wallet: createSlots(WORK_BUDGETS.wallet, now),
    nodes: createSlots(WORK_BUDGETS.nodes, now),
  }
  return { enter: (work, ownerId) => slots[work].enter(ownerId) }
}
