import type { ProcessState } from '#shared/db/installation/process-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

export type { ProcessState } from '#shared/db/installation/process-model.ts'

/** Heartbeats of processes. */
export interface ProcessHeartbeats {
  beat(state: ProcessState): Promise<void>
  /** Removes it: the process stopped normally. */
  gone(id: string): Promise<void>
  /** How many processes of that name sent a heartbeat since then. */
  countLive(name: string, since: Ms): Promise<number>
}
