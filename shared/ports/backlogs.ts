import type { Ms } from '#shared/domain/invoice/model.ts'
import type { QueueName } from './runtime.ts'

/** Waiting work of one queue, as stored; `audit-chain` stands for audit rows that are not chained. */
export interface QueueBacklog {
  readonly queue: QueueName | 'audit-chain'
  /** Waiting rows, due or not; counted up to 10,000. */
  readonly depth: number
  /** Due time of the row that has waited longest; null when none is due. */
  readonly oldestDueAt: Ms | null
}

/** Bounded, indexed queries about all work of the installation. */
export interface BacklogRepository {
  /** Every queue whose work is in the store. */
  queues(at: Ms): Promise<readonly QueueBacklog[]>
  /** The deadline, among those reached at `at`, that has waited longest on this action chain; null when none has. */
  oldestDeadline(actionChain: string, at: Ms): Promise<Ms | null>
  /** Open exceptions by kind; counted up to 10,000 in all. */
  openExceptions(): Promise<ReadonlyMap<string, number>>
}
