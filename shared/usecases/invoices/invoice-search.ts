import { type Family, type Mode, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import type { InvoiceSearch } from '#shared/ports/invoice-lookups.ts'
import { addressClaim } from '#shared/usecases/wallets/address-standing.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** An invoice's number, as pages and people write it. */
const NUMBER = /^(?:invoice )?#? ?(\d{1,9})$/i

/** Families whose addresses a text may be; several families may share a form. */
export type GuessAddress = (
  mode: Mode,
  text: string,
) => readonly { readonly family: Family; readonly matchKey: string }[]

/** What a person most likely searches for with this text. Never throws: any other text may be an order's reference, a name or an amount. */
export function readInvoiceSearch(guess: GuessAddress, mode: Mode, text: string): InvoiceSearch {
  const given = text.trim()
  if (UUID.test(given.toLowerCase())) return { kind: 'id', id: given.toLowerCase() }
  const number = NUMBER.exec(given)?.[1]
  if (number !== undefined) return { kind: 'number', number: Number(number), orderId: given }
  if (/^[^\s@]+@[^\s@]+$/.test(given)) return { kind: 'email', email: given }
  const addresses = guess(mode, given)
  if (addresses.length === 0) return { kind: 'text', text: given }
  return {
    kind: 'address',
    claims: addresses.map(({ family, matchKey }) => addressClaim(mode, family, matchKey)),
    // If amounts are unique, each of them has a claim.
    prefixes: addresses.flatMap(({ matchKey }) => NETWORK_IDS.map((network) => `${mode}:${network}:${matchKey}`)),
  }
}
