import { z } from 'zod'
import { defineCollection, type RecordOf, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import { EXCEPTION_KINDS, type ExceptionKind, MODES } from '#shared/domain/enumerations.ts'

/** An operator's decision about an exception. */
const DECISION = z.object({
  opId: z.string(),
  /** `user:<e-mail>`. */
  by: z.string(),
  at: TIME,
  /** The money counts here; it counts on another invoice; it stays uncounted; nothing is left to do. */
  resolution: z.enum(['accepted', 'attached', 'rejected', 'closed']),
  reason: z.string().nullable(),
})

/** An operator's note on an exception. */
const NOTE = z.object({
  opId: z.string(),
  by: z.string(),
  at: TIME,
  /** Null once it was erased together with the customer. */
  text: z.string().nullable(),
})

/** Index of open exceptions, by kind, workspace and mode. */
export const INBOX_OPEN = 'exception_inbox_open'
/** Index of closed exceptions, by workspace, mode and kind. */
export const INBOX_CLOSED = 'exception_inbox_closed'
/** Every kind, for queries about all of them: the kind is an early key of both indexes. */
export const ALL_KINDS = { $in: [...EXCEPTION_KINDS] }

const TWO_YEARS_S = 730 * 86_400

/** The exceptions collection; closed ones are kept two years. */
export const EXCEPTIONS = defineCollection(
  'exceptions',
  {
    /** Deterministic: `<kind>:<subject>`. */
    _id: z.string(),
    kind: textAs<ExceptionKind>(),
    workspaceId: z.string().nullable(),
    mode: z.enum(MODES).nullable(),
    invoiceId: z.string().nullable(),
    paymentKey: z.string().nullable(),
    detail: z.string(),
    open: z.boolean(),
    openedAt: TIME,
    closedAt: TIME.nullable(),
    /** Its transfer disappeared; if it is seen again, the exception reopens. */
    closedByItself: z.boolean().exactOptional(),
    /** Position in the invoice's outbox of the last entry that was applied; absent in rows that no invoice opened. */
    seq: z.number().exactOptional(),
    /** Absent while no decision is in progress. */
    deciding: DECISION.exactOptional(),
    /** The last decision; the exception may have been reopened since. */
    resolved: DECISION.exactOptional(),
    /** Oldest first, at most 50. */
    notes: z.array(NOTE).exactOptional(),
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
  { hidden: ['open', 'closedByItself', 'seq'] },
)

/** A stored exception. */
export type ExceptionDocument = StoredOf<typeof EXCEPTIONS>

type ExceptionWhole = RecordOf<typeof EXCEPTIONS>

/** An exception without the operators' decisions and notes. */
export type ExceptionRecord = Omit<ExceptionWhole, 'deciding' | 'resolved' | 'notes'>
/** An operator's decision about an exception. */
export type Decision = NonNullable<ExceptionWhole['resolved']>
/** An operator's note on an exception. */
export type ExceptionNote = NonNullable<ExceptionWhole['notes']>[number]
