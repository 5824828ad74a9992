import type { Prng } from '../kernel/prng.ts'
import type { Repositories } from './contract-stage.ts'

/** What a question may draw on. Names come from small sets, so that questions meet each other. */
export interface Turn {
  readonly on: Repositories
  readonly random: Prng
  /** A separate time in the past, later than all before it: no two documents tie when sorted by time. */
  tick(): number
}

/** One question, with what it needs for it. */
export type StoreQuery = (turn: Turn) => Promise<unknown>

/** Some of a list, in its order. */
export const pickSome = <T>(random: Prng, list: readonly T[]): T[] => list.filter(() => random.chance(0.5))
