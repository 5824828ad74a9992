import type { Ms } from '#shared/domain/invoice/model.ts'

/** Heartbeat of a process. */
export interface ProcessState {
  /** Id of this run of the process. */
  readonly id: string
  readonly name: string
  readonly host: string
  readonly pid: number
  /** Version of Paymesh and of Node. */
  readonly version: string
  readonly node: string
  readonly startedAt: Ms
  readonly seenAt: Ms
  /** Loops without progress. */
  readonly silent: readonly string[]
  /** Ids of its master keys, the sealing one first. */
  readonly masterKeys: readonly string[]
}

/** Heartbeats of processes. */
export interface ProcessHeartbeats {
  beat(state: ProcessState): Promise<void>
  /** Removes it: the process stopped normally. */
  gone(id: string): Promise<void>
  /** How many processes of that name sent a heartbeat since then. */
  countLive(name: string, since: Ms): Promise<number>
}
