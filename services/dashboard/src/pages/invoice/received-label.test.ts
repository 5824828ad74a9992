import { expect, test } from 'vitest'
import { receivedLabel } from './received-label.ts'

const asset = 'usdt_ethereum' as const
const invoice = (coins: { readonly received: string; readonly seen: string }, more: object) =>
  receivedLabel({
    ...{ coins: { asset, symbol: 'USDT', due: '25', ...coins }, status: 'paid', refunds: [{ status: 'sent' }] },
    ...{ payments: [], ...more },
  } as unknown as Parameters<typeof receivedLabel>[0])
const payment = (more: object) => ({
  ...{ asset, state: 'confirmed', counted: true, late: false, eligible: true, uncountedReason: null, ...more },
})

// Guarantee: an operator reads why this amount is suggested; money that went back before the invoice was paid came in time.
test('only money that came too late is said to have come too late', () => {
  const payments = [payment({}), payment({})]
  expect(invoice({ received: '37', seen: '25' }, { payments })).toBe(
    'Received 37 USDT. Suggested: all of it, less what refunds took of it.',
  )
  const late = payment({ late: true, eligible: false, counted: false })
  expect(invoice({ received: '44', seen: '25' }, { payments: [...payments, late] })).toBe(
    'Received 44 USDT, of which 25 USDT paid the invoice. Suggested: what came too late, less what refunds took of it.',
  )
  const gone = { ...late, state: 'orphaned' }
  const other = { ...late, asset: 'usdc_ethereum', uncountedReason: 'wrong_asset' }
  expect(invoice({ received: '37', seen: '25' }, { payments: [...payments, gone, other] })).not.toContain('too late')
  const earlier = { refunds: [{ status: 'withdrawn' }], payments }
  expect(invoice({ received: '25', seen: '25' }, earlier)).toBe('Received 25 USDT. Suggested: all of it.')
})
