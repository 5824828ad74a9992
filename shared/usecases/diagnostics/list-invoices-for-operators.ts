import type { InvoiceLookups } from '#shared/db/invoices/admin-invoice-lookups.ts'
import { activePaymentMethod, type InvoiceState, type Ms } from '#shared/domain/invoice/model.ts'
import { isLive, requestedBase, totals } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/money.ts'
import type { InvoicePageQuery } from '#shared/ports/invoice-lookups.ts'
import { type Invoice, ledgerKeys } from '#shared/ports/invoices.ts'
import { likelyRefund } from '#shared/usecases/refunds/likely-refund.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { duration } from './exception-sentence.ts'

/** Dependencies of listing. */
export type ListForOperatorsDeps = Uses<'clock' | 'payments' | 'refunds' | 'cursors'> & {
  readonly lookups: Pick<InvoiceLookups, 'page'>
}

/** An invoice of a list and its next step. */
export interface InvoiceRow {
  readonly invoice: Invoice
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
    const isConfirming = invoice.state.status === 'confirming' && activePaymentMethod(invoice.state) !== null
    const progress = isConfirming ? await progressOf(deps, invoice) : null
    const aboveBase = invoice.state.status === 'overpaid' ? await likelyRefund(deps, invoice) : 0n
    return { invoice, whatNow: invoiceWhatNow(invoice.state, { now, progress, aboveBase }) }
  })
  return { rows: await Promise.all(rows), next }
}

/** Counted from the scanner's committed position, never from a node's head. */
async function progressOf(deps: ListForOperatorsDeps, invoice: Invoice): Promise<Progress | null> {
  const payments = (await deps.payments.listAmong(invoice.terms.id, ledgerKeys(invoice))).filter(isLive)
  const waiting = payments.filter((payment) => payment.state === 'detected')
  const [first] = waiting
  if (first === undefined) return null
  const cursor = await deps.cursors.find(invoice.terms.mode, first.network)
  const have = waiting.map(({ block }) =>
    block === null || cursor === null ? 0 : Math.max(0, cursor.height - block.height + 1),
  )
  return { have: Math.min(...have), need: first.requiredConfirmations }
}

/** Confirmations of the slowest pending payment. */
interface Progress {
  readonly have: number
  readonly need: number
}

/** Next step of an invoice, in a few words for the end of a list row; `aboveBase` is above its price and did not go back. Pure. */
function invoiceWhatNow(
  state: InvoiceState,
  { now, progress, aboveBase }: { now: Ms; progress: Progress | null; aboveBase: bigint },
): string {
  const paymentMethod = activePaymentMethod(state)
  const { dueBase, seenBase, receivedBase } = totals(state)
  const leftBase = requestedBase(state, now)
  const units = (base: bigint) =>
    `${formatUnits(base, paymentMethod?.decimals ?? 0)} ${paymentMethod?.symbol ?? ''}`.trim()
  const left = state.expiresAt - now
  const decide = state.exceptions.length > 0
  switch (state.status) {
    case 'new':
      return left > 0 ? 'send the checkout link' : 'none: no coin was chosen in time'
    case 'pending':
      if (receivedBase > 0n) return 'decide on a payment that does not count'
      return left > 0 ? `wait for the payment, ${duration(left)} left` : 'wait for the last blocks'
    case 'partial':
      return `wait for ${units(leftBase > 0n ? leftBase : dueBase - seenBase)} more${left > 0 ? `, ${duration(left)} left` : ''}`
    case 'confirming':
      return progress === null ? 'wait for confirmations' : `wait, ${progress.have} of ${progress.need} confirmations`
    case 'paid':
      if (decide) return 'decide on the open exception'
      return paidIn((state.paidAt ?? state.updatedAt) - state.createdAt)
    case 'overpaid':
      return aboveBase > 0n ? `refund or keep ${units(aboveBase)}` : 'none: nothing above the price is left'
    case 'expired':
      if (paymentMethod === null) return 'none: no coin was chosen'
      if (receivedBase > 0n)
        return `decide on ${formatUnits(receivedBase, paymentMethod.decimals)} of ${units(dueBase)} received`
      return decide ? 'decide on a payment that does not count' : 'none: nothing was received'
    case 'cancelled':
      return decide ? 'decide on a payment that came later' : 'none: it was cancelled'
  }
}

function paidIn(ms: number): string {
  return ms < 1_000 ? 'none: paid instantly' : `none: paid in ${duration(ms)}`
}
