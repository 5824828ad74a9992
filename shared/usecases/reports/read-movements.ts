import { type Movement, movementsOf, movementsUnheld } from '#shared/domain/books/movements.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Invoice, InvoiceRecords } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { Refund } from '#shared/ports/refunds.ts'
import type { Uses } from '#shared/usecases/uses.ts'

const HOUR_MS = 3_600_000
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

/** A movement with the invoice whose books it is in; null for money that belongs to none. */
export interface Entry {
  readonly invoice: Invoice | null
  readonly movement: Movement<Payment, Refund>
}

/**
 * The movements of a workspace, in batches of an hour: each file and report adds these up. Only the hours in which money moved are read, one at a
 * time, so that any number of movements can be read. In `oldest` order movements are in the order of time, ties by id; `newest` turns it round.
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
    const owner = { workspaceId, mode }
    const hours = await bookReads.hours({ ...owner, since: begin, until: end })
    for (const hour of order === 'oldest' ? hours : hours.toReversed()) {
      const span = { ...owner, since: Math.max(hour, begin), until: Math.min(hour + HOUR_MS, end) }
      const [records, unheld] = await Promise.all([bookReads.records(span), bookReads.unheld(span)])
      const entries = [
        ...records.flatMap(entriesOf),
        ...unheld.flatMap(movementsUnheld).map((movement): Entry => ({ invoice: null, movement })),
      ].filter(({ movement: { at } }) => at >= span.since && at < span.until)
      const sorted = entries.sort(
        ({ movement: one }, { movement: other }) => one.at - other.at || (one.id < other.id ? -1 : 1),
      )
      yield order === 'oldest' ? sorted : sorted.reverse()
    }
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
