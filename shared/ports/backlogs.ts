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
