import type { BookSpan, BookUnit } from '#shared/db/reports/book-reads.ts'
import { type Movement, movementsOf } from '#shared/domain/books/movements.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Invoice, InvoiceRecords } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { Refund } from '#shared/ports/refunds.ts'
import type { Uses } from '#shared/usecases/uses.ts'

const HOUR_MS = 3_600_000
/** Movements that are read at once, unless more of them are of one second. */
const BATCH_MAX = 1_000
const UNITS = { hour: HOUR_MS, minute: 60_000, second: 1_000 } as const
/** Hours are looked for in stretches of this length. */
const STRETCH_MS = 31 * 24 * HOUR_MS

/** What reading movements needs. */
export type MovementsDeps = Uses<'bookReads' | 'clock'>

/** Whose movements: at or after `from` and before `to`; null = without bound. */
export interface MovementScope {
  readonly workspaceId: string
  readonly mode: Mode
  readonly from: Ms | null
  readonly to: Ms | null
}

/** A movement with the invoice whose books it is in. */
export interface Entry {
  readonly invoice: Invoice
  readonly movement: Movement<Payment, Refund>
}

/**
 * The movements of a workspace, in batches of an hour, or of a minute or a second of an hour with many: each file and report adds these up. Only
 * the hours in which money moved are read, one batch at a time, so that any number of movements can be read. In `oldest` order movements are in the order of time, ties by id; `newest` turns it round.
 */
export async function* readMovements(
  { bookReads, clock }: MovementsDeps,
  { workspaceId, mode, from, to }: MovementScope,
  order: 'oldest' | 'newest' = 'oldest',
): AsyncGenerator<readonly Entry[]> {
  const begun = await bookReads.begunAt(workspaceId, mode)
  // Nothing moved before: years that a person types cost nothing.
  const since = Math.max(from ?? 0, begun ?? clock.now())
  const until = Math.min(to ?? Number.MAX_SAFE_INTEGER, clock.now() + HOUR_MS)
  for (const [begin, end] of stretches(since, until, order)) {
    for await (const span of batches(bookReads, { workspaceId, mode, since: begin, until: end }, order)) {
      const entries = (await bookReads.records(span)).flatMap(entriesOf)
      const sorted = entries
        .filter(({ movement: { at } }) => at >= span.since && at < span.until)
        .sort(({ movement: one }, { movement: other }) => one.at - other.at || (one.id < other.id ? -1 : 1))
      yield order === 'oldest' ? sorted : sorted.reverse()
    }
  }
}

/** The parts of a span in which money moved, each as long as what moved in it can be read at once. */
async function* batches(
  bookReads: MovementsDeps['bookReads'],
  span: BookSpan,
  order: 'oldest' | 'newest',
  unit: BookUnit = 'hour',
): AsyncGenerator<BookSpan> {
  const counts = [...(await bookReads.counts(span, unit))]
  const finer = unit === 'hour' ? 'minute' : 'second'
  for (const [at, count] of order === 'oldest' ? counts : counts.reverse()) {
    const part = { ...span, since: Math.max(at, span.since), until: Math.min(at + UNITS[unit], span.until) }
    if (count <= BATCH_MAX || unit === 'second') yield part
    else yield* batches(bookReads, part, order, finer)
  }
}

/** Every movement of an invoice with it, oldest first. */
export function entriesOf({ invoice, payments, refunds }: InvoiceRecords): readonly Entry[] {
  return movementsOf(invoice, payments, refunds).map((movement) => ({ invoice, movement }))
}

function stretches(since: Ms, until: Ms, order: 'oldest' | 'newest'): readonly (readonly [Ms, Ms])[] {
  const count = Math.max(0, Math.ceil((until - since) / STRETCH_MS))
  const found = Array.from({ length: count }, (_, index): readonly [Ms, Ms] => {
    const begin = since + index * STRETCH_MS
    return [begin, Math.min(begin + STRETCH_MS, until)]
  })
  return order === 'oldest' ? found : found.reverse()
}
