import { DATE, defineCollection, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import { EXCEPTION_KINDS } from '#shared/domain/enumerations.ts'
import type { Decision, ExceptionNote } from '#shared/ports/exception-decisions.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'

/** A stored exception. */
export type ExceptionDocument = Omit<ExceptionRecord, 'id' | 'openedAt' | 'closedAt'> & {
  _id: string
  open: boolean
  openedAt: Date
  closedAt: Date | null
  /** Position in the invoice's outbox of the last entry that was applied; absent in rows that no invoice opened. */
  seq?: number
  /** Its transfer disappeared; if it is seen again, the exception reopens. */
  closedByItself?: boolean
  /** Absent while no decision is in progress. */
  deciding?: DecisionDocument
  resolved?: DecisionDocument
  notes?: (Omit<ExceptionNote, 'at'> & { at: Date })[]
}

/** A decision as stored. */
export type DecisionDocument = Omit<Decision, 'at'> & { at: Date }

/** Index of open exceptions, by kind, workspace and mode. */
export const INBOX_OPEN = 'exception_inbox_open'
/** Index of closed exceptions, by workspace, mode and kind. */
export const INBOX_CLOSED = 'exception_inbox_closed'
/** Every kind, for queries about all of them: the kind is an early key of both indexes. */
export const ALL_KINDS = { $in: [...EXCEPTION_KINDS] }

const TWO_YEARS_S = 730 * 86_400

/** The exceptions collection; closed ones are kept two years. */
export const EXCEPTIONS = defineCollection<ExceptionDocument>(
  'exceptions',
  {
    _id: TEXT,
    kind: TEXT,
    workspaceId: optional(String),
    mode: optional(String),
    invoiceId: optional(String),
    paymentKey: optional(String),
    detail: String,
    open: Boolean,
    openedAt: DATE,
    closedAt: optional(Date),
    closedByItself: optional(Boolean),
    seq: optional(Number),
    deciding: optional(Object),
    resolved: optional(Object),
    notes: { type: [Object], default: undefined },
  },
  [
    // Kinds and modes are few: a list of all of them merges their stretches, and a list of some reads nothing else. `open` is a
    // key although it is constant, so that counts are served from the index alone.
    {
      name: INBOX_OPEN,
      key: { open: 1, kind: 1, workspaceId: 1, mode: 1, openedAt: 1, _id: 1 },
      partialFilterExpression: { open: true },
    },
    {
      name: INBOX_CLOSED,
      key: { workspaceId: 1, mode: 1, kind: 1, closedAt: -1, _id: -1 },
      partialFilterExpression: { open: false },
    },
    // Equality with a text does not imply its type: a query must include the type too, or it reads every row.
    {
      name: 'exception_invoice',
      key: { invoiceId: 1, openedAt: -1 },
      partialFilterExpression: { invoiceId: { $type: 'string' } },
    },
    {
      name: 'exception_payment',
      key: { paymentKey: 1 },
      partialFilterExpression: { paymentKey: { $type: 'string' } },
    },
    { name: 'exception_life', key: { closedAt: 1 }, expireAfterSeconds: TWO_YEARS_S },
  ],
)
