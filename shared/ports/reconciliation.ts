import type { EventType, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Invoice } from './invoices.ts'
import type { Payment } from './payments.ts'
import type { ChainCursor } from './scanning.ts'

/** An event as far as the books tell of it; its body is not read. */
export interface ToldEvent {
  readonly id: string
  readonly seq: number
  readonly type: EventType
  readonly workspaceId: string
  readonly mode: Mode
}

/** How far a chain is known. */
export type ChainHeight = Pick<ChainCursor, 'mode' | 'network' | 'height' | 'headHeight'>

/** Everything that is kept about one invoice and must agree. */
export interface Books {
  readonly invoice: Invoice
  /** Other invoices of its workspace and mode that carry its idempotency key. */
  readonly keySharedWith: readonly string[]
  /** All that are attributed to it. */
  readonly payments: readonly Payment[]
  readonly events: readonly ToldEvent[]
  /** False when the invoice is so old that events of it are past their life. */
  readonly eventsComplete: boolean
  /** Sequence numbers of what went to the audit trail and to mails. */
  readonly seqsElsewhere: readonly number[]
  /** Entries of the inbox that it opened at any time; they do not keep their sequence numbers. */
  readonly inboxEntries: number
}

/** A place in the order in which invoices changed. */
export interface ChangeMark {
  readonly at: Ms
  readonly invoiceId: string
}

/** How far the books were judged. */
export interface BooksProgress {
  /** Last invoice judged in the order of creation; empty before the first. */
  readonly createdThrough: string
  /** Last change judged. */
  readonly changedThrough: ChangeMark
  /** Invoices that were wrong when they were judged last. */
  readonly wrong: readonly string[]
  /** When the last round ended; null while one is under way. */
  readonly endedAt: Ms | null
}

/** What judging the books reads, and the one fact that it writes. */
export interface BooksRepository {
  /** Null before the first round. */
  progress(): Promise<BooksProgress | null>
  saveProgress(progress: BooksProgress): Promise<void>
  /** An id below those of all invoices created then or later. */
  idAt(at: Ms): string
  /** The lowest id that carries this time. */
  firstIdAt(at: Ms): string
  /** Ids behind `after` in the order of creation, of invoices whose ids carry a time before `until`; null = all. */
  created(after: string, until: Ms | null, limit: number): Promise<readonly string[]>
  /** Marks behind `after` of invoices that changed since their creation, before `until`, oldest change first. */
  changed(after: ChangeMark, until: Ms, limit: number): Promise<readonly ChangeMark[]>
  /**
   * Reads invoices first and what follows from them after that, so that what is missing then was never there. Invoices that changed
   * while they were read are left out: they tell of two moments.
   */
  read(ids: readonly string[], now: Ms): Promise<readonly Books[]>
}
