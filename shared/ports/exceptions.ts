import type { ExceptionRecord } from '#shared/db/exceptions/exception-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

export type { ExceptionRecord } from '#shared/db/exceptions/exception-model.ts'

/** One change of an exception in an invoice's outbox. */
export interface ExceptionChange {
  readonly record: ExceptionRecord
  /** Position of the entry in the invoice's outbox. */
  readonly seq: number
  readonly isOpen: boolean
  /** When the invoice wrote it. */
  readonly at: Ms
  /** True when the row must be created even if it was never stored as open: it was opened and closed in one read. */
  readonly creates: boolean
}
