import { DATE, defineCollection, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { Decision, ExceptionNote } from '#shared/ports/exception-decisions.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'

/** A stored entry of the operators' inbox. */
export type ExceptionDocument = Omit<ExceptionRecord, 'id' | 'openedAt' | 'closedAt'> & {
  _id: string
  open: boolean
  openedAt: Date
  closedAt: Date | null
  /** Position in the invoice's outbox of the last entry that was applied; absent in rows that no invoice opened. */
  seq?: number
  /** The transfer it is about was gone; seen again, it opens again. */
  closedByItself?: boolean
  /** Absent while nobody decides. */
  deciding?: DecisionDocument
  resolved?: DecisionDocument
  notes?: (Omit<ExceptionNote, 'at'> & { at: Date })[]
}

/** A decision as stored. */
export type DecisionDocument = Omit<Decision, 'at'> & { at: Date }

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
    {
      name: 'exception_open',
      key: { workspaceId: 1, kind: 1, openedAt: 1 },
      partialFilterExpression: { open: true },
    },
    {
      name: 'exception_desk_open',
      key: { workspaceId: 1, open: 1, openedAt: 1, _id: 1 },
      // Equality with a text implies "greater than empty", but not a type.
      partialFilterExpression: { workspaceId: { $gt: '' } },
    },
    {
      name: 'exception_desk_closed',
      key: { workspaceId: 1, open: 1, closedAt: -1, _id: -1 },
      partialFilterExpression: { workspaceId: { $gt: '' } },
    },
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
