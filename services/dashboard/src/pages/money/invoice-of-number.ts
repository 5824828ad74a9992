import type { Mode } from '#shared/domain/enumerations.ts'
import { PageFailure } from '../../api/failure.ts'
import { api } from '../../api/trpc.ts'

/** As printed on pages: `1042` or `#1042`. */
const NUMBER = /^#?(\d{1,9})$/

/**
 * Id of the invoice with exactly this number. The search behind it also finds orders with such a reference, customers and addresses: money must
 * never go to one of those. Throws `PageFailure` when there is none.
 */
export async function invoiceOfNumber(
  scope: { readonly workspaceId: string; readonly mode: Mode },
  typed: string,
): Promise<string> {
  const digits = NUMBER.exec(typed.trim())?.[1]
  // The invoice with the number comes first, whatever else is found.
  const found = digits === undefined ? [] : (await api.invoices.list.query({ ...scope, q: digits, limit: 2 })).items
  const invoice = found.find(({ number }) => number === Number(digits))
  if (invoice === undefined) throw new PageFailure('No invoice has this number.')
  return invoice.id
}
