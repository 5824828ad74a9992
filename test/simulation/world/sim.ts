import type { Prng } from '../kernel/prng.ts'
import type { Scheduler } from '../kernel/scheduler.ts'
import type { Trace } from '../kernel/trace.ts'
import type { MemoryStore } from '../store/memory-store.ts'
import type { Book } from './book.ts'
import type { SimChain } from './chain.ts'
import type { FaultMix } from './fault-mix.ts'
import type { Market } from './market.ts'
import type { SimRedis } from './redis-port.ts'
import type { ScanPlan } from './scan-plan.ts'
import type { Supervisor } from './supervisor-port.ts'
import type { Trouble } from './trouble-kinds.ts'

/** Everything one seed consists of. Parts find each other here; nothing outside of it is ever changed. */
export interface Sim {
  readonly seed: string
  readonly random: Prng
  readonly trace: Trace
  readonly scheduler: Scheduler
  readonly store: MemoryStore
  readonly redis: SimRedis
  readonly supervisor: Supervisor
  readonly chains: ReadonlyMap<string, SimChain>
  /** How each chain is scanned, by its id. */
  readonly scanPlans: ReadonlyMap<string, ScanPlan>
  readonly market: Market
  /** What really happened, as the outside knows it. */
  readonly book: Book
  /** The faults of the moment; `CLEAR` once everything heals. */
  mix: FaultMix
  /** What is wrong with the nodes of this seed's chain besides; null for nothing. */
  readonly trouble: Trouble | null
  healed: boolean
  /** When all faults ended; infinite before. */
  healedAt: number
  /** True while the store answers nobody. */
  storeDown: boolean
  /** Until when the majority lacks the newest writes. */
  storeLagsUntil: number
  /** Last time at which something happened that the product has to do with. */
  activeAt: number
  /** When a machine's clock moved last; in the far past before the first. */
  jumpedAt: number
  /** No machine's clock is ever wrong in this seed. */
  readonly clocksHold: boolean
  /** No fault may have kept the mail about a failing endpoint from being written. */
  mailsAreCertain: boolean
  /** When processes were stopped last. */
  readonly frozenAt: Map<string, number>
  /** The attempt of a delivery that was recorded last, and when its sender knew how it had ended. */
  readonly recordedAt: Map<string, { readonly attempt: number; readonly answeredAt: number }>
  /** Faults that were dealt out so far, by name. */
  readonly faults: Map<string, number>
  /** Deletes an endpoint as its merchant would, if it has not yet; does nothing before there are merchants. */
  deleteEndpoint: (id: string) => void
  /** Counts a fault and notes it in the trace. */
  fault(name: string, detail?: string): void
  /** Something happened: no idle time is skipped for a while. */
  touch(): void
  /** Ends the seed with this error. */
  readonly fail: (error: unknown) => void
  /** Resolves after so much virtual time; for the outside only. */
  sleep(ms: number, what: string): Promise<void>
}
