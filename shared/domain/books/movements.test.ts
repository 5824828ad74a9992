import { expect, test } from 'vitest'
import type { LedgerRow } from '../invoice/model.ts'
import { aPaymentMethod, aQuote, T0 } from '../invoice/transition-story.fixture.ts'
import { booksOf, partsOfMovement, partsOfPaid } from './invoice-books.ts'
import { type BookedInvoice, type BookedPayment, type BookedRefund, movementsOf } from './movements.ts'

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
  expect(row === undefined ? null : partsOfMovement({ terms: invoice.terms, paidAt: null }, row)).toEqual([])
})

const countedRow = (payment: string, amountBase: bigint, firstSeenAt: number): LedgerRow => ({
  ...{ payment, version: 1, state: 'confirmed', amountBase, firstSeenAt, counted: true, uncountedReason: null },
  ...{ acceptedBase: null, late: false, rateSeen: null, eligible: true, simulated: false },
  ...{ detected: true, confirmed: true, lateAnnounced: false, bookings: [{ at: firstSeenAt, worth: 'own' }] },
})

// Money: what went back is in the net figure to the minor unit, and what counted for nothing takes nothing from the sale.
test('refunds add up, and money beside the price goes back first', () => {
  const refund = (id: string, amountBase: bigint, sentAt = T0 + 120_000): BookedRefund => {
    return { id, asset: 'usdt_ethereum', amountBase, sentAt, market: null }
  }
  const of = (payments: readonly BookedPayment[], refunds: readonly BookedRefund[]) => {
    const { received, refunded, net } = booksOf(invoice, movementsOf(invoice, payments, refunds))
    return [received, refunded, net]
  }
  const paid = payment('a', DUE, { market })
  const thirds = [DUE / 3n, DUE / 3n, DUE - 2n * (DUE / 3n)].map((base, index) => refund(`r${index}`, base))
  expect(of([paid], thirds.slice(0, 1))).toEqual([10_000n, 3_333n, 6_667n])
  expect(of([paid], thirds)).toEqual([10_000n, 10_000n, 0n])
  expect(of([paid, payment('b', DUE, { market, counted: false })], [refund('r', DUE)])).toEqual([10_000n, 0n, 10_000n])
  // A part of the sale went back before the second payment came, which then went back as a whole.
  const second = payment('b', DUE, { market, counted: false, bookedAt: [T0 + 180_000] })
  const both = [refund('r1', DUE / 5n), refund('r2', DUE, T0 + 240_000)]
  expect(of([paid, second], both)).toEqual([10_000n, 2_000n, 8_000n])
  // Two quotes, and a refund between: when everything has gone back, nothing is left.
  const quotes = [aQuote({ amountBase: DUE }), aQuote({ amountBase: 2n * DUE, quotedAt: T0 + 150_000 })]
  const renewed = { ...invoice, state: { ...invoice.state, paymentMethods: [aPaymentMethod({ quotes })] } }
  const halves = [0, 1].map((turn) =>
    payment(`h${turn}`, ((1n + BigInt(turn)) * DUE) / 2n, {
      market,
      bookedAt: [T0 + (1 + 2 * turn) * 60_000],
      firstSeenAt: T0 + turn * 170_000,
    }),
  )
  const ledger = halves.map(({ key, amountBase, firstSeenAt }) => ({ ...countedRow(key, amountBase, firstSeenAt) }))
  const all = movementsOf({ ...renewed, state: { ...renewed.state, ledger } }, halves, [
    refund('r1', DUE / 4n),
    refund('r2', (5n * DUE) / 4n, T0 + 240_000),
  ])
  expect(booksOf(renewed, all)).toMatchObject({ received: 10_000n, refunded: 10_000n, net: 0n })
})

// Money: what went back of money that did not count then, and was accepted later, is off the net figure.
test('a refund is of other money where what it was of counts now, left its chain, or was gone before', () => {
  const refund = (amountBase: bigint, sentAt: number): BookedRefund => {
    return { id: 'r', asset: 'usdt_ethereum', amountBase, sentAt, market: null }
  }
  const none = { at: T0, worth: 'none' } as const
  const accepted = (key: string): LedgerRow => ({
    ...{ ...countedRow(key, DUE, T0), acceptedBase: DUE },
    bookings: [none, { at: T0 + 300_000, worth: 'accepted' }],
  })
  const netOf = (ledger: readonly LedgerRow[], payments: readonly BookedPayment[], back: BookedRefund) => {
    const rows = movementsOf({ ...invoice, state: { ...invoice.state, ledger } }, payments, [back])
    const { received, refunded, net } = booksOf(invoice, rows)
    const corrected = rows.filter(({ kind, refund: of }) => kind === 'correction' && of !== null)
    return [received, refunded, net, corrected.map(({ before, after }) => after - before)]
  }
  const [one, other] = [payment('a', DUE), payment('b', DUE)]
  expect(netOf([accepted('a'), accepted('b')], [one, other], refund(DUE, T0 + 120_000))).toEqual([
    ...[20_000n, 10_000n, 10_000n, [-10_000n]],
  ])
  // The second payment, which counted for nothing and went back, leaves the chain: the refund was of the sale.
  const second = payment('b', DUE, { counted: false, bookedAt: [T0 + 60_000, T0 + 300_000] })
  expect(netOf([], [one, second], refund(DUE, T0 + 120_000))).toEqual([10_000n, 10_000n, 0n, [-10_000n]])
  // Sent while the payment was off its chain, to which it returned.
  const back = payment('a', DUE, { bookedAt: [T0 + 60_000, T0 + 90_000, T0 + 300_000] })
  expect(netOf([], [back], refund(DUE / 4n, T0 + 120_000))).toEqual([10_000n, 2_500n, 7_500n, [-2_500n]])
})

// Money: a value that a person states is what it counts for, from then on; the coin and its amount stay what came.
test('accepted money in another coin keeps its coin and amount, and counts with the stated value', () => {
  const row: LedgerRow = {
    ...{ payment: 'o', version: 1, state: 'confirmed', amountBase: 2n * DUE, firstSeenAt: T0, counted: true },
    ...{ uncountedReason: null, acceptedBase: DUE, late: false, rateSeen: null, eligible: true, simulated: false },
    ...{ detected: true, confirmed: true, lateAnnounced: false },
    bookings: [
      { at: T0, worth: 'none' },
      { at: T0 + 90_000, worth: 'accepted' },
    ],
  }
  const accepted = { ...invoice, state: { ...invoice.state, ledger: [row] } }
  const rows = movementsOf(accepted, [payment('o', 2n * DUE, { asset: 'usdc_ethereum', market })], [])
  expect(rows).toMatchObject([
    { kind: 'receipt', asset: 'usdc_ethereum', amountBase: 2n * DUE, counted: false, before: 0n, after: 0n },
    { kind: 'correction', asset: 'usdc_ethereum', amountBase: 0n, before: 0n, after: 10_000n, appliedBase: 2n * DUE },
  ])
  expect(booksOf(accepted, rows)).toMatchObject({ received: 10_000n, short: 0n, market: { minor: 20_000n } })
})

// Money: a month that is closed stays as it was: later payments and reversals are in the figures of their own time.
test('a second payment, and its loss, change no figure of the month in which the invoice was paid', () => {
  const month = 30 * 86_400_000
  const { terms } = invoice
  const paidAt = T0 + 60_000
  const partly = payment('a', (DUE * 99n) / 100n, { market })
  const again = payment('b', DUE, { market, bookedAt: [T0 + month, T0 + 2 * month] })
  const parts = (payments: readonly BookedPayment[]) => {
    const movements = movementsOf(invoice, payments, [])
    const later = movements.map((movement) => partsOfMovement({ terms, paidAt }, movement))
    const figures = [partsOfPaid(terms, paidAt, movements, 'USDT'), ...later].map((some) =>
      some.flatMap(({ figure, minor }) => (figure === 'short' || figure === 'excess' ? [[figure, minor]] : [])),
    )
    return figures
  }
  expect(parts([partly])).toEqual([[['short', 100n]], []])
  const more = [
    ['short', -100n],
    ['excess', 9_900n],
  ]
  const gone = [
    ['short', 100n],
    ['excess', -9_900n],
  ]
  expect(parts([partly, again])).toEqual([[['short', 100n]], [], more, gone])
})
