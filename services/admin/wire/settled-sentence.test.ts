import { expect, test } from 'vitest'
import type { InvoiceState, LedgerRow } from '#shared/domain/invoice/model.ts'
import { openInvoice } from '#shared/domain/invoice/open-invoice.ts'
import { transition } from '#shared/domain/invoice/transition.ts'
import { aPayment, aPaymentMethod, aQuote, MINUTE, T0 } from '#shared/domain/invoice/transition-story.fixture.ts'
import { settledSentence } from './invoice-wire.ts'

const DUE = 100_000_000n

/** An invoice of 100 USDT that was paid so much. */
function paid(amountBase: bigint, change: Partial<LedgerRow> = {}): InvoiceState {
  const paymentMethod = aPaymentMethod({ symbol: 'USDT', decimals: 6, quotes: [aQuote({ amountBase: DUE })] })
  const opened = { mode: 'test', createdAt: T0, expiresAt: T0 + 60 * MINUTE, endsWithQuote: false } as const
  const { state } = openInvoice({ ...opened, paymentMethod })
  const observations = [aPayment({ payment: 'a', amountBase, state: 'confirmed' })]
  const event = { type: 'payments_changed' } as const
  const result = transition(state, { observations, event, at: T0 + MINUTE, knownUntil: T0 + MINUTE, refunds: [] })
  if (result.outcome !== 'changed') throw new Error(result.outcome)
  return { ...result.state, ledger: result.state.ledger.map((row) => ({ ...row, ...change })) }
}

// Money: the page of an invoice says what came, as what it was, and what went.
test.each([
  ['exactly', paid(DUE), [], 'Paid in full. 100 of 100 USDT confirmed in 1 payment.'],
  ['too much', paid(DUE + 3n), [], 'Overpaid by 0.000003 USDT: 100.000003 of 100 USDT confirmed in 1 payment.'],
  [
    'short, accepted',
    { ...paid(DUE / 2n, { acceptedBase: DUE / 2n }), status: 'paid' as const, underpaidAccepted: true },
    [],
    'Paid: a smaller amount was accepted. 50 of 100 USDT confirmed in 1 payment.',
  ],
  [
    'in another coin',
    paid(DUE, { payment: 'other', acceptedBase: DUE }),
    [],
    'Paid in full. Money in another coin counts, at a stated value: 100 of 100 USDT in 1 payment.',
  ],
  [
    'and taken back',
    paid(DUE, { state: 'orphaned' }),
    [],
    'Paid, but a reorganization took money back. 0 of 100 USDT confirmed in 0 payments.',
  ],
  [
    'and refunded',
    paid(DUE),
    [
      { status: 'sent' as const, amount: '40', symbol: 'USDT' },
      { status: 'requested' as const, amount: '7', symbol: 'USDT' },
      { status: 'sent' as const, amount: '2', symbol: 'USDC' },
    ],
    'Paid in full. 100 of 100 USDT confirmed in 1 payment. Refunded: 40 USDT and 2 USDC.',
  ],
])('an invoice that was paid %s', (_name, state, refunds, sentence) => {
  const payments = [
    { key: 'a', asset: 'usdt_ethereum' as const },
    { key: 'other', asset: 'usdc_ethereum' as const },
  ]
  expect(settledSentence(state, payments, refunds)).toBe(sentence)
})
