import type { Mode } from '#shared/domain/enumerations.ts'
import { readPasted } from '#shared/domain/pasted-text.ts'
import type { InvoiceSearch } from '#shared/ports/invoice-lookups.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { type GuessAddress, readInvoiceSearch } from '#shared/usecases/invoices/invoice-search.ts'
import { transactionId } from '#shared/usecases/networks/transaction-id.ts'
import { familyOf } from '#shared/usecases/payments/attribute-transfers.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { coinAmounts, namesCoin } from './coin-amounts.ts'
import { candidateNetworks } from './find-transaction.ts'

/** Dependencies of reading what an operator searches for. */
export type OperatorSearchDeps = Uses<'payments' | 'catalog'> & { readonly guessAddress: GuessAddress }

/** A text that somebody searches for in a workspace. */
export interface SearchedText {
  readonly workspaceId: string
  readonly mode: Mode
  readonly text: string
}

/**
 * What an operator searches for with this text, which may be the address of an explorer's page: the invoices to which a transaction was
 * attributed, or a payment of this amount of a named coin, otherwise what the text's form says. Other workspaces' payments are nobody's.
 */
export async function operatorSearch(
  deps: OperatorSearchDeps & Uses<'paymentLookups'>,
  search: SearchedText,
): Promise<InvoiceSearch> {
  const { workspaceId, mode } = search
  const given = readPasted(search.text)
  const ofTransaction = await ownPaymentsOf(deps, { ...search, text: given })
  const amounts = namesCoin(given) ? coinAmounts(deps.catalog, given) : []
  const ofAmount =
    ofTransaction.length > 0 || amounts.length === 0
      ? []
      : await deps.paymentLookups.found({ workspaceId, mode, search: { ids: [], invoiceIds: [], amounts } })
  const ids = [...new Set([...ofTransaction, ...ofAmount].flatMap(({ invoiceId }) => invoiceId ?? []))]
  return ids.length > 0 ? { kind: 'ids', ids } : readInvoiceSearch(deps.guessAddress, mode, given)
}

/** The stored payments of a transaction that are this workspace's, on whichever network the text may name one. */
export async function ownPaymentsOf(
  deps: OperatorSearchDeps,
  { workspaceId, mode, text }: SearchedText,
): Promise<readonly Payment[]> {
  const networks = candidateNetworks(deps.catalog, text)
  const payments = await Promise.all(
    networks.map((network) =>
      deps.payments.listByTransaction(mode, network, transactionId(familyOf(deps.catalog, network), text)),
    ),
  )
  return payments.flat().filter((payment) => payment.workspaceId === workspaceId)
}
