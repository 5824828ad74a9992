import { expect, test } from 'vitest'
import type { PaymentState, RefundStatus } from '../enumerations.ts'
import { isRefundUncovered, refundableAssets, refundableBase } from './refundable.ts'

const USDT = 'usdt_ethereum' as const
const USDC = 'usdc_ethereum' as const
const payment = (
  amountBase: bigint,
  state: PaymentState = 'confirmed',
  asset: typeof USDT | typeof USDC | null = USDT,
) => ({
  ...{ amountBase, state, asset },
})
const refund = (amountBase: bigint, status: RefundStatus = 'requested', asset: typeof USDT | typeof USDC = USDT) => ({
  ...{ amountBase, status, asset, createdAt: 0 },
})

// Guards money: only what is confirmed and still there is given back, and each part of it once.
test('what may still be refunded is what is confirmed, less refunds that were not withdrawn', () => {
  const payments = [
    payment(10n),
    payment(5n),
    payment(90n, 'detected'),
    payment(90n, 'orphaned'),
    payment(90n, 'replaced'),
    payment(90n, 'dropped'),
    payment(7n, 'confirmed', USDC),
    payment(90n, 'confirmed', null),
  ]
  expect(refundableBase(USDT, payments, [])).toBe(15n)
  const refunds = [
    refund(1n),
    refund(2n, 'addressed'),
    refund(4n, 'sent'),
    refund(8n, 'withdrawn'),
    refund(7n, 'sent', USDC),
  ]
  expect(refundableBase(USDT, payments, refunds)).toBe(8n)
  expect(refundableAssets(payments, refunds)).toEqual([{ asset: USDT, amountBase: 8n }])
  expect(refundableAssets(payments, [])).toEqual([
    { asset: USDT, amountBase: 15n },
    { asset: USDC, amountBase: 7n },
  ])
})

test('a refund is uncovered when more is claimed in its coin than is confirmed, whatever came in others', () => {
  const payments = [payment(10n, 'orphaned'), payment(10n), payment(50n, 'confirmed', USDC)]
  expect(isRefundUncovered(payments, [refund(10n)])).toBe(false)
  expect(isRefundUncovered(payments, [refund(10n), refund(1n, 'sent')])).toBe(true)
  expect(isRefundUncovered(payments, [refund(10n), refund(1n, 'withdrawn')])).toBe(false)
  expect(isRefundUncovered([], [])).toBe(false)
})
