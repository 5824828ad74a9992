import type { EventType, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ChainCursor } from './cursors.ts'
import type { Invoice } from './invoices.ts'
import type { Payment } from './payments.ts'

/** An event as read by reconciliation; without its body. */
export interface PublishedEvent {
  readonly id: string
  readonly seq: number
  readonly type: EventType
  readonly workspaceId: string
  readonly mode: Mode
}

/** Height up to which a chain is known. */
export type ChainHeight = Pick<ChainCursor, 'mode' | 'network' | 'height' | 'headHeight'>

/** All stored records about one invoice, which must be consistent. */
export interface InvoiceRecords {
  readonly invoice: Invoice
  /** Other invoices of its workspace and mode that carry its idempotency key. */
  readonly keySharedWith: readonly string[]
  /** All payments attributed to it. */
  readonly payments: readonly Payment[]
  readonly events: readonly PublishedEvent[]
  /** False when the invoice is so old that some of its events have expired. */
  readonly eventsComplete: boolean
  /** Sequence numbers of audit entries and mails; not looked for, and empty, unless `eventsComplete`. */
  readonly seqsElsewhere: readonly number[]
  /** Number of exceptions that it opened at any time; they have no sequence numbers. 0 unless `eventsComplete`. */
  readonly inboxEntries: number
}

/** A position in the order in which invoices changed. */
export interface ChangeMark {
  readonly at: Ms
  readonly invoiceId: string
}

/** Progress of reconciliation. */
export interface ReconciliationProgress {
  /** Last invoice checked in the order of creation; empty before the first. */
  readonly createdThrough: string
  /** Last change checked. */
  readonly changedThrough: ChangeMark
  /** Invoices that were wrong in their last check. */
  readonly wrong: readonly string[]
  /** When the last round ended; null while one is running. */
  readonly endedAt: Ms | null
}
