import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { QueueName } from './runtime.ts'

/** What waits in the store for one kind of work. `due` stops at `COUNT_MAX` of the delivery search. */
export interface WorkDepth {
  readonly work: QueueName | 'payments' | 'audit-chain'
  /** Should have been done by now. */
  readonly due: number
  /** When the oldest of it fell due; null when nothing is. */
  readonly oldestDueAt: Ms | null
}

/** A named lease as it stands; an expired one belongs to nobody. */
export interface LeaseState {
  readonly id: string
  readonly owner: string
  readonly until: Ms
  readonly epoch: number
}

/** A process that shows that it lives. */
export interface ProcessState {
  /** Of this life of the process. */
  readonly id: string
  readonly name: string
  readonly host: string
  readonly pid: number
  /** Of Paymesh and of Node. */
  readonly version: string
  readonly node: string
  readonly startedAt: Ms
  readonly seenAt: Ms
  /** Loops that should have turned by now. */
  readonly silent: readonly string[]
  /** Ids of the master keys that it holds, the sealing one first; absent for a version that did not say so. */
  readonly masterKeys?: readonly string[]
}

/** What people who run the installation look at. */
export interface InstanceReads {
  depths(at: Ms): Promise<readonly WorkDepth[]>
  leases(): Promise<readonly LeaseState[]>
  /** When Redis was last found to be another one than before; null before the first look. */
  redisSince(): Promise<Ms | null>
  /** Processes seen since then, by name. */
  processes(since: Ms): Promise<readonly ProcessState[]>
}

/** Where processes show that they live. */
export interface ProcessBeats {
  beat(state: ProcessState): Promise<void>
  /** Ends it: the process stops in good order. */
  gone(id: string): Promise<void>
}

/** Jobs of one queue in Redis. */
export interface JobCounts {
  readonly waiting: number
  readonly active: number
  readonly delayed: number
  readonly failed: number
}

/** The queues' own figures, which say nothing about what is due: jobs are wake-ups. */
export interface QueueCounts {
  /** Null while Redis does not answer. */
  read(): Promise<Readonly<Record<QueueName, JobCounts>> | null>
  /** Milliseconds since Redis stopped taking writes; 0 while healthy. */
  redisAwayMs(): Ms
  close(): Promise<void>
}

/** Where one node says that its chain stands. */
export interface NodeState {
  /** Host and port; the rest of its URL may hold credentials. */
  readonly host: string
  readonly height: number | null
  readonly finalizedHeight: number | null
  readonly tookMs: Ms | null
  /** Why it did not say so; null when it did. */
  readonly fault: string | null
}

/** Asks nodes where they stand; for people who look, never for what is credited. */
export interface NodeLook {
  /** In the order of the configuration; empty when the network has no node in that mode. */
  look(mode: Mode, network: NetworkId): Promise<readonly NodeState[]>
}
