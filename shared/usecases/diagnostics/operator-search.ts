import type { Mode } from '#shared/domain/enumerations.ts'
import { readPasted } from '#shared/domain/pasted-text.ts'
import type { InvoiceSearch } from '#shared/ports/invoice-lookups.ts'
import { type GuessAddress, readInvoiceSearch } from '#shared/usecases/invoices/invoice-search.ts'
import { transactionId } from '#shared/usecases/networks/transaction-id.ts'
import { familyOf } from '#shared/usecases/payments/attribute-transfers.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { candidateNetworks } from './find-transaction.ts'

/** Dependencies of reading what an operator searches for. */
export type OperatorSearchDeps = Uses<'payments' | 'catalog'> & { readonly guessAddress: GuessAddress }

/**
 * What an operator searches for with this text, which may be the address of an explorer's page: the invoices to which a transaction was
 * attributed, otherwise what the text's form says. Other workspaces' payments are nobody's.
 */
export async function operatorSearch(
  deps: OperatorSearchDeps,
  { workspaceId, mode, text }: { readonly workspaceId: string; readonly mode: Mode; readonly text: string },
): Promise<InvoiceSearch> {
  const given = readPasted(text)
  const networks = candidateNetworks(deps.catalog, given)
  const payments = await Promise.all(
    networks.map((network) =>
      deps.payments.listByTransaction(mode, network, transactionId(familyOf(deps.catalog, network), given)),
    ),
  )
  const own = payments.flat().filter((payment) => payment.workspaceId === workspaceId)
  const ids = [...new Set(own.flatMap(({ invoiceId }) => invoiceId ?? []))]
  return ids.length > 0 ? { kind: 'ids', ids } : readInvoiceSearch(deps.guessAddress, mode, given)
}
