import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { EXCEPTION_KINDS, FIAT_CODES } from '#shared/domain/enumerations.ts'
import { formatFiat } from '#shared/domain/money/money.ts'
import { type Decision, type ExceptionEntry, RESOLUTIONS } from '#shared/ports/exception-decisions.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import { personOf } from './refund-wire.ts'

/** The id of an exception. */
export const exceptionInput = z.object({ id: boundedText(300).min(1) })

const decisionWire = z.object({
  by: z.string(),
  at: z.number(),
  resolution: z.enum(RESOLUTIONS),
  reason: z.string().nullable(),
})

/** An exception. Times are milliseconds. */
export const exceptionWire = z.object({
  id: z.string(),
  kind: z.enum(EXCEPTION_KINDS),
  title: z.string(),
  sentence: z.string(),
  invoiceId: z.string().nullable(),
  /** What it is about; null when it concerns no invoice. */
  invoice: z
    .object({
      number: z.number(),
      /** Name or email, as far as the merchant gave them. */
      customer: z.string().nullable(),
      amount: z.object({ value: z.string(), currency: z.enum(FIAT_CODES) }),
    })
    .nullable(),
  openedAt: z.number(),
  closedAt: z.number().nullable(),
  /** A decision is in progress. */
  deciding: decisionWire.nullable(),
  /** The last decision; null for those that closed automatically. */
  resolved: decisionWire.nullable(),
  notes: z.array(z.object({ by: z.string(), at: z.number(), text: z.string().nullable() })),
})
export type ExceptionWire = z.infer<typeof exceptionWire>

/** An exception as shown to its operators; the output of the procedure leaves out the rest of its record. */
export function exceptionToWire(
  entry: ExceptionEntry,
  words: { readonly title: string; readonly sentence: string },
  invoice: Pick<Invoice, 'terms'> | null,
): ExceptionWire {
  return {
    ...entry,
    ...words,
    // Money of one workspace may concern an invoice of another, whose customer is none of its business.
    invoice: invoice === null || invoice.terms.workspaceId !== entry.workspaceId ? null : invoiceToWire(invoice),
    deciding: decisionToWire(entry.deciding),
    resolved: decisionToWire(entry.resolved),
    notes: entry.notes.map((note) => ({ ...note, by: personOf(note.by) })),
  }
}

function invoiceToWire({ terms }: Pick<Invoice, 'terms'>): NonNullable<ExceptionWire['invoice']> {
  const { number, customer, fiat } = terms
  return {
    number,
    customer: customer.name ?? customer.email,
    amount: { value: formatFiat(fiat.minor, fiat.currency), currency: fiat.currency },
  }
}

function decisionToWire(decision: Decision | null): z.infer<typeof decisionWire> | null {
  return decision === null ? null : { ...decision, by: personOf(decision.by) }
}
