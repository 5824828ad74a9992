import type { QueueName } from '#shared/ports/runtime.ts'

/** What a process does for one queue. */
export interface QueueWorkerOptions {
  readonly queue: QueueName
  /** Jobs handled at the same time by this process. */
  readonly concurrency: number
  /**
   * Does whatever the store says is to be done for this id. Runs at least once per kick, maybe twice at a time across
   * processes, and must be safe to repeat. A failure is logged and counted; the sweep brings the id back.
   */
  handle(id: string): Promise<unknown>
  /** Ids whose work has been waiting for longer than a kick takes, from an indexed question to the store. */
  sweep(): Promise<readonly string[]>
  readonly sweepEveryMs: number
  /** How long the worker may take nothing, while jobs wait or work is overdue, until it is mistrusted. Default 10,000. */
  readonly idleAfterMs?: number
  /** How long Redis must have been away before swept ids are handled here directly. Default 3,000. */
  readonly degradedAfterMs?: number
}
