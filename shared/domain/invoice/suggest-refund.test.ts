import { expect, test } from 'vitest'
import type { InvoiceState } from '#shared/domain/invoice/model.ts'
import { samplePaymentMethod, sampleState } from '#test/support/db-samples.ts'
import { suggestRefund } from './suggest-refund.ts'

const AT = 1_000_000
/** 100 USDT are due; `amounts` came. */
const state = (status: InvoiceState['status'], ...amounts: bigint[]): InvoiceState => ({
  ...sampleState(AT, { paymentMethods: [samplePaymentMethod('aa', AT)] }),
  status,
  others: {
    seenBase: amounts.reduce((sum, one) => sum + one, 0n),
    confirmedBase: amounts.reduce((sum, one) => sum + one, 0n),
    count: amounts.length,
    digest: '',
  },
})
/** More than any of these invoices. */
const confirmed = { state: 'confirmed' as const, bookedAt: [AT] }
const PLENTY = [{ asset: 'usdt_ethereum' as const, ...confirmed, amountBase: 1_000_000_000n }]
const refund = (
  amountBase: bigint,
  status: 'requested' | 'sent' | 'withdrawn',
  asset: 'usdt_ethereum' | 'eth_ethereum',
  createdAt = AT,
) => ({
  ...{ amountBase, status, asset, createdAt },
})

// Guarantee: what an operator confirms without reading gives back the difference and not the whole payment.
test('of an overpaid invoice the difference is proposed', () => {
  expect(suggestRefund(state('overpaid', 70_000_000n, 35_980_000n), PLENTY, [])).toBe(5_980_000n)
})

test('of any other invoice all that came is proposed', () => {
  expect(suggestRefund(state('paid', 100_000_000n), PLENTY, [])).toBe(100_000_000n)
  expect(suggestRefund(state('expired', 40_000_000n), PLENTY, [])).toBe(40_000_000n)
})

// Guarantee: money that came after the invoice was paid and too late to count is proposed, and not the whole order.
test('of a paid invoice with late money the late money is proposed', () => {
  const paid = state('paid', 100_000_000n)
  const [row] = sampleLedger(7_000_000n)
  expect(suggestRefund({ ...paid, ledger: [row] }, PLENTY, [])).toBe(7_000_000n)
  expect(suggestRefund({ ...paid, status: 'expired', ledger: [row] }, PLENTY, [])).toBe(107_000_000n)
})

// Guards money: a transfer that its sender can still replace must not be given back.
test('money that is not confirmed is never proposed', () => {
  const [late] = sampleLedger(7_000_000n)
  const unconfirmed = { ...late, state: 'detected' as const, confirmed: false }
  const onTime = { ...unconfirmed, late: false, eligible: true }
  expect(suggestRefund({ ...state('overpaid', 105_980_000n), ledger: [onTime] }, PLENTY, [])).toBe(5_980_000n)
  expect(suggestRefund({ ...state('expired', 40_000_000n), ledger: [unconfirmed] }, PLENTY, [])).toBe(40_000_000n)
  expect(suggestRefund({ ...state('expired'), ledger: [unconfirmed] }, PLENTY, [])).toBe(0n)
  // Nor the order that was paid, while what came too late waits for its confirmations.
  expect(suggestRefund({ ...state('paid', 100_000_000n), ledger: [unconfirmed] }, PLENTY, [])).toBe(0n)
})

// Guarantee: money that came between two quotes of an invoice that was paid later is proposed, and not the whole order.
test('of a paid invoice with money outside every quote that money is proposed', () => {
  const [late] = sampleLedger(7_000_000n)
  const row = { ...late, counted: false, uncountedReason: 'out_of_quote' as const, late: false, eligible: true }
  expect(suggestRefund({ ...state('paid', 100_000_000n), ledger: [row] }, PLENTY, [])).toBe(7_000_000n)
  expect(suggestRefund({ ...state('overpaid', 105_000_000n), ledger: [row] }, PLENTY, [])).toBe(12_000_000n)
  expect(suggestRefund({ ...state('expired', 40_000_000n), ledger: [row] }, PLENTY, [])).toBe(47_000_000n)
  expect(suggestRefund({ ...state('expired'), ledger: [row] }, PLENTY, [])).toBe(7_000_000n)
  const token = { ...row, uncountedReason: 'wrong_asset' as const }
  expect(suggestRefund({ ...state('paid', 100_000_000n), ledger: [token] }, PLENTY, [])).toBe(100_000_000n)
})

test('what earlier refunds cover is not proposed again', () => {
  const over = state('overpaid', 105_980_000n)
  expect(suggestRefund(over, PLENTY, [refund(5_980_000n, 'sent', 'usdt_ethereum')])).toBe(0n)
  expect(suggestRefund(over, PLENTY, [refund(1_000_000n, 'requested', 'usdt_ethereum')])).toBe(4_980_000n)
  expect(suggestRefund(over, PLENTY, [refund(5_980_000n, 'withdrawn', 'usdt_ethereum')])).toBe(5_980_000n)
  expect(suggestRefund(over, PLENTY, [refund(5_980_000n, 'sent', 'eth_ethereum')])).toBe(5_980_000n)
  expect(suggestRefund(over, PLENTY, [refund(9_000_000n, 'sent', 'usdt_ethereum')])).toBe(0n)
})

// Guards money: what came after a refund is not what that refund took, so a second payment is proposed whole.
test('of money that came after a refund of a part of the order, the order is not taken off', () => {
  const paidAt = AT + 1_000
  const [row] = sampleLedger(7_000_000n)
  const beside = { ...state('paid', 100_000_000n), paidAt, ledger: [row] }
  const came = (amountBase: bigint, ...bookedAt: number[]) => ({ ...confirmed, asset, amountBase, bookedAt })
  const asset = 'usdt_ethereum' as const
  const both = [came(100_000_000n, AT), came(7_000_000n, AT + 3_000)]
  const back = (amountBase: bigint, at: number) => refund(amountBase, 'sent', asset, at)
  const part = back(10_000_000n, AT + 2_000)
  expect(suggestRefund(beside, both, [part])).toBe(7_000_000n)
  expect(suggestRefund(beside, both, [part, back(3_000_000n, AT + 4_000)])).toBe(4_000_000n)
  expect(suggestRefund(beside, both, [part, back(9_000_000n, AT + 4_000)])).toBe(0n)
  expect(suggestRefund(beside, both, [part, { ...back(9_000_000n, AT + 4_000), status: 'withdrawn' }])).toBe(7_000_000n)
  const over = { ...state('overpaid', 107_000_000n), paidAt }
  expect(suggestRefund(over, both, [part])).toBe(7_000_000n)
  // A refund from before the invoice was paid is in its sums: the payer paid the whole price after it.
  const waited = { ...state('overpaid', 112_000_000n), paidAt, claimedBase: 12_000_000n }
  expect(
    suggestRefund(waited, [came(12_000_000n, AT), came(100_000_000n, AT + 500)], [back(12_000_000n, AT + 100)]),
  ).toBe(0n)
})

/** A confirmed payment that was late and counts, without being eligible. */
const sampleLedger = (amountBase: bigint): readonly [InvoiceState['ledger'][number]] => [
  {
    ...{ payment: 'late', version: 1, state: 'confirmed', amountBase, firstSeenAt: AT, counted: true },
    ...{ uncountedReason: null, acceptedBase: null, late: true, rateSeen: null, eligible: false, simulated: false },
    ...{ detected: true, confirmed: true, lateAnnounced: true },
  },
]

// Guards money: a wrong coin that an operator accepted at a value cannot be given back as the coin of the invoice.
test('never more is proposed than came in the coin', () => {
  const came = [{ asset: 'usdt_ethereum' as const, ...confirmed, amountBase: 30_000_000n }]
  expect(suggestRefund(state('paid', 100_000_000n), came, [])).toBe(30_000_000n)
  expect(suggestRefund(state('paid', 100_000_000n), [], [])).toBe(0n)
  expect(suggestRefund(state('overpaid', 105_980_000n), came, [])).toBe(5_980_000n)
})

test('without a coin nothing is proposed', () => {
  expect(suggestRefund(sampleState(AT), PLENTY, [])).toBe(0n)
})

// Guarantee: what went back in another coin is not proposed again; what came beside the price in that coin goes back first.
test('a refund of accepted money in another coin is taken off', () => {
  const [row] = sampleLedger(30_000_000n)
  const accepted = { ...row, payment: 'usdc', acceptedBase: 30_000_000n, late: false, eligible: true }
  const over = { ...state('overpaid', 100_000_000n), ledger: [accepted] }
  const usdc = { asset: 'usdc_ethereum' as const, ...confirmed, amountBase: 31_000_000n, key: 'usdc' }
  const sent = (amountBase: bigint) => [
    { amountBase, status: 'sent' as const, asset: 'usdc_ethereum' as const, createdAt: AT },
  ]
  expect(suggestRefund(over, [...PLENTY, usdc], [])).toBe(30_000_000n)
  expect(suggestRefund(over, [...PLENTY, usdc], sent(15_500_000n))).toBe(15_000_000n)
  expect(suggestRefund(over, [...PLENTY, usdc], sent(31_000_000n))).toBe(0n)
  const beside = { ...usdc, key: 'beside' }
  expect(suggestRefund(over, [...PLENTY, usdc, beside], sent(31_000_000n))).toBe(30_000_000n)
})
