import type { InvoiceLookups } from '#shared/db/invoices/admin-invoice-lookups.ts'
import { readPasted } from '#shared/domain/pasted-text.ts'
import type { PaymentSearch } from '#shared/ports/payment-lookups.ts'
import { readInvoiceSearch } from '#shared/usecases/invoices/invoice-search.ts'
import { coinAmounts } from './coin-amounts.ts'
import { type OperatorSearchDeps, operatorSearch, ownPaymentsOf, type SearchedText } from './operator-search.ts'

/** Invoices whose payments a search shows. */
const INVOICES_MAX = 10
/** Payments to an address without an invoice that are read at most. */
const UNMATCHED_MAX = 20

type InvoiceSearchDeps = OperatorSearchDeps & { readonly lookups: Pick<InvoiceLookups, 'page'> }

/** The newest invoices that a text finds, at most `max`, in the order of their ids from new to old. */
export async function searchedInvoices(
  deps: InvoiceSearchDeps & Parameters<typeof operatorSearch>[0],
  searched: SearchedText,
  max: number,
): Promise<readonly string[]> {
  return await newestOf(deps, searched, await operatorSearch(deps, searched), max)
}

/**
 * The payments that an operator searches for with this text: of a transaction, with an id, to an address, of an amount, or of the ten newest invoices
 * that it finds. Other workspaces' payments are nobody's.
 */
export async function operatorPaymentSearch(deps: InvoiceSearchDeps, searched: SearchedText): Promise<PaymentSearch> {
  const { workspaceId, mode } = searched
  const text = readPasted(searched.text)
  const ofTransaction = await ownPaymentsOf(deps, { ...searched, text })
  if (ofTransaction.length > 0) return { ids: ofTransaction.map(({ id }) => id), invoiceIds: [], amounts: [] }
  const search = readInvoiceSearch(deps.guessAddress, mode, text)
  const matchKeys = search.kind === 'address' ? deps.guessAddress(mode, text).map(({ matchKey }) => matchKey) : []
  const [invoiceIds, unmatched] = await Promise.all([
    newestOf(deps, searched, search, INVOICES_MAX),
    matchKeys.length === 0 ? [] : deps.payments.listUnheld(mode, matchKeys, UNMATCHED_MAX),
  ])
  const own = unmatched.filter((payment) => payment.workspaceId === workspaceId).map(({ id }) => id)
  return {
    ids: search.kind === 'id' ? [search.id] : own,
    invoiceIds,
    amounts: coinAmounts(deps.catalog, text),
  }
}

async function newestOf(
  { lookups }: InvoiceSearchDeps,
  { workspaceId, mode }: SearchedText,
  search: ReturnType<typeof readInvoiceSearch>,
  max: number,
): Promise<readonly string[]> {
  const filters = { status: null, createdFrom: null, createdTo: null, asset: null, source: null, flag: null }
  const { invoices } = await lookups.page({ workspaceId, mode, search, ...filters, limit: max, beforeId: null })
  return invoices.map(({ terms }) => terms.id)
}
