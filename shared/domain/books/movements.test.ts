import { expect, test } from 'vitest'
import { aPaymentMethod, aQuote, T0 } from '../invoice/transition-fixtures.ts'
import { booksOf } from './invoice-books.ts'
import { partsOfMovement } from './money-parts.ts'
import { type BookedInvoice, type BookedPayment, movementsOf } from './movements.ts'

const DUE = 100_000_000n
const market = { fiatPerAsset: '1', decimals: 6, at: T0, sources: ['kraken'], fxSources: [] }
const invoice: BookedInvoice = {
  terms: { id: 'i', fiat: { minor: 10_000n, currency: 'USD' } },
  state: {
    ...{ status: 'paid', expiresAt: T0 + 3_600_000, ledger: [] },
    paymentMethods: [aPaymentMethod({ quotes: [aQuote({ amountBase: DUE })] })],
  },
}
const method = invoice.state.paymentMethods[0]
const payment = (key: string, amountBase: bigint, more: Partial<BookedPayment> = {}): BookedPayment => ({
  ...{ id: key, key, asset: method?.asset ?? null, network: 'ethereum', matchKey: method?.matchKey ?? '' },
  ...{ amountBase, kind: 'onchain', state: 'confirmed', firstSeenAt: T0, bookedAt: [T0 + 60_000], counted: true },
  ...more,
})

// Money: no rate is looked up for dust, and anybody can send it: it must not blank the value of an invoice.
test('dust takes no figure at market away, and a payment without a rate does', () => {
  const paid = payment('a', DUE, { market })
  const dust = payment('b', 1n, { counted: false })
  const unpriced = payment('c', DUE, { market: null, counted: false })
  const of = (...payments: readonly BookedPayment[]) => booksOf(invoice, movementsOf(invoice, payments, [])).market
  expect(of(paid, dust)).toEqual({ minor: 10_000n, unpriced: 0 })
  expect(of(paid, dust, unpriced)).toEqual({ minor: 10_000n, unpriced: 1 })
  const [row] = movementsOf(invoice, [dust], [])
  expect(row).toMatchObject({ amountBase: 1n, market: null, marketMinor: null })
  expect(row === undefined ? null : partsOfMovement(invoice.terms, row)).toEqual([])
})
