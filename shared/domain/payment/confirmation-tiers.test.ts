import { expect, it } from 'vitest'
import { type ConfirmationTier, requestedConfirmations } from './confirmation-tiers.ts'

const TIERS: readonly ConfirmationTier[] = [
  { fromUsd: 0, confirmations: 1 },
  { fromUsd: 100, confirmations: 2 },
  { fromUsd: 10_000, confirmations: 'finalized' },
]
const confirmationsFor = (minor: bigint, currency: 'USD' | 'MXN' | 'CLP', fiatPerUsd: string | null) =>
  requestedConfirmations(TIERS, { fiat: { minor, currency }, fiatPerUsd }, 2)
const count = (confirmations: number) => ({ confirmations, finality: false })

it('asks by the value of the invoice, exact at the threshold', () => {
  expect(confirmationsFor(9_999n, 'USD', null)).toEqual(count(1))
  expect(confirmationsFor(10_000n, 'USD', null)).toEqual(count(2))
  expect(confirmationsFor(999_999n, 'USD', '7')).toEqual(count(2))
  expect(confirmationsFor(1_000_000n, 'USD', null)).toEqual({ confirmations: 2, finality: true })
})

it('values another currency in US dollars, to the last digit of the rate', () => {
  expect(confirmationsFor(187_123n, 'MXN', '18.7123')).toEqual(count(2))
  expect(confirmationsFor(187_122n, 'MXN', '18.7123')).toEqual(count(1))
  expect(confirmationsFor(93_001n, 'CLP', '930.01')).toEqual(count(2))
  expect(confirmationsFor(93_000n, 'CLP', '930.01')).toEqual(count(1))
})

// Guarantee: an invoice whose value is not known never gets the confirmations of a small one.
it('asks for the strictest tier when the value is not known', () => {
  expect(confirmationsFor(1n, 'MXN', null)).toEqual({ confirmations: 2, finality: true })
  expect(requestedConfirmations(TIERS, null, 2)).toEqual({ confirmations: 2, finality: true })
})

it('asks for no fewer blocks under finality than below it', () => {
  const tiers: readonly ConfirmationTier[] = [
    { fromUsd: 0, confirmations: 50 },
    { fromUsd: 5, confirmations: 'finalized' },
  ]
  const worth = { fiat: { minor: 500n, currency: 'USD' as const }, fiatPerUsd: null }
  expect(requestedConfirmations(tiers, worth, 12)).toEqual({ confirmations: 50, finality: true })
})
