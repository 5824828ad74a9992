import type { QueueName } from '#shared/ports/runtime.ts'

/** A process's handler for one queue. */
export interface QueueWorkerOptions {
  readonly queue: QueueName
  /** Concurrent jobs in this process. */
  readonly concurrency: number
  /**
   * Does the work that the store holds for this id. Runs at least once per wake-up, maybe concurrently
   * in several processes, and must be safe to repeat. A failure is logged and counted; the sweep finds the id again.
   */
  handle(id: string): Promise<unknown>
  /** Ids whose work has waited longer than a wake-up takes, from an indexed query. */
  sweep(): Promise<readonly string[]>
  readonly sweepEveryMs: number
  /**
   * For a handler that merges concurrent calls itself, of few ids. A job of the queue then ends as soon as the handler was
   * called, so one job at a time is taken without delaying the next, and a process that dies holds no job. Work in progress is then
   * known to this process alone, so one process at a time should consume the queue: `stop` waits for the work, and the sweep finds what a
   * killed process left. By default, an id has one job at a time in all processes together.
   */
  readonly endsAtOnce?: boolean
  /** How long the worker may take no job, while jobs wait or work is overdue, until it is replaced. Default 10,000. */
  readonly idleAfterMs?: number
  /** How long Redis must have been unavailable before swept ids are handled here directly. Default 3,000. */
  readonly degradedAfterMs?: number
}

/** A running worker. */
export interface QueueWorker {
  /** Takes no more work, lets running jobs finish for up to `deadlineMs` (default 10 s) and closes its connections. */
  stop(deadlineMs?: number): Promise<void>
}

/** Starts the worker of a queue: on Redis in a process of the product (`createQueueWorker`), on queues in memory in the simulation. */
export type StartWorker = (options: QueueWorkerOptions) => QueueWorker
