import type { Ms } from '#shared/domain/invoice/model.ts'
import type { QueueName } from './runtime.ts'

/** Jobs of one queue in Redis. */
export interface JobCounts {
  readonly waiting: number
  readonly active: number
  readonly delayed: number
  readonly failed: number
}

/** Job counts of the queues. They do not show due work: jobs are only wake-ups. */
export interface QueueCounts {
  /** Null while Redis does not respond. */
  read(): Promise<Readonly<Record<QueueName, JobCounts>> | null>
  /** Milliseconds since Redis stopped accepting writes; 0 while healthy. */
  redisAwayMs(): Ms
  close(): Promise<void>
}
