import { activePaymentMethod, type PaymentMethod } from '#shared/domain/invoice/model.ts'
import { isLive } from '#shared/domain/invoice/totals.ts'
import type { CursorRepository } from '#shared/ports/cursors.ts'
import type { InvoiceLookups, InvoicePageQuery } from '#shared/ports/invoice-lookups.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { PaymentRepository } from '#shared/ports/payments.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import { invoiceWhatNow, type Progress } from './invoice-next-step.ts'

/** Dependencies of listing. */
export interface ListForOperatorsDeps {
  readonly clock: Clock
  readonly lookups: Pick<InvoiceLookups, 'page'>
  readonly payments: Pick<PaymentRepository, 'listByInvoice'>
  readonly cursors: Pick<CursorRepository, 'find'>
}

/** An invoice of a list and its next step. */
export interface InvoiceRow {
  readonly invoice: Invoice
  readonly lock: PaymentMethod | null
  readonly whatNow: string
}

/** A page of a workspace's invoices, newest first, each with its next step. */
export async function listInvoicesForOperators(
  deps: ListForOperatorsDeps,
  query: InvoicePageQuery,
): Promise<{ readonly rows: readonly InvoiceRow[]; readonly next: string | null }> {
  const { invoices, next } = await deps.lookups.page(query)
  const now = deps.clock.now()
  const rows = invoices.map(async (invoice): Promise<InvoiceRow> => {
    const lock = activePaymentMethod(invoice.state)
    const progress = invoice.state.status === 'confirming' && lock !== null ? await progressOf(deps, invoice) : null
    return { invoice, lock, whatNow: invoiceWhatNow(invoice.state, now, progress) }
  })
  return { rows: await Promise.all(rows), next }
}

/** Counted from the scanner's committed position, never from a node's head. */
async function progressOf(deps: ListForOperatorsDeps, { terms }: Invoice): Promise<Progress | null> {
  const payments = (await deps.payments.listByInvoice(terms.id)).filter(isLive)
  const waiting = payments.filter(({ state }) => state === 'detected')
  const [first] = waiting
  if (first === undefined) return null
  const cursor = await deps.cursors.find(terms.mode, first.network)
  const have = waiting.map(({ block }) =>
    block === null || cursor === null ? 0 : Math.max(0, cursor.height - block.height + 1),
  )
  return { have: Math.min(...have), need: first.requiredConfirmations }
}
