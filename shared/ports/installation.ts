import type { Ms } from '#shared/domain/invoice/model.ts'
import type { QueueName } from './runtime.ts'

/** Waiting work of one kind in the store. `due` stops at `COUNT_MAX` of the delivery search. */
export interface WorkDepth {
  readonly work: QueueName | 'payments' | 'audit-chain'
  /** Overdue work. */
  readonly due: number
  /** When the oldest of it fell due; null when nothing is due. */
  readonly oldestDueAt: Ms | null
}

/** The state of a named lease; an expired one has no owner. */
export interface LeaseState {
  readonly id: string
  readonly owner: string
  readonly until: Ms
  readonly epoch: number
}
