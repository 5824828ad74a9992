import fc from 'fast-check'
import { openInvoice } from './open-invoice.ts'
import { aPaymentMethod, DEADLINE, DUE, MINUTE, T0 } from './transition-story.fixture.ts'

export const paymentMethod = aPaymentMethod({
  policy: { ...aPaymentMethod().policy, toleranceBase: 1_000n, sendableBase: 500n },
})

export const amounts = [1n, 999n, DUE / 4n, DUE / 3n, DUE / 2n, DUE - 1_000n, DUE, DUE + 500n, DUE + 501n]
export const amount = fc.constantFrom(...amounts)
/** With a remainder that dust completes; transition-dust.property.test.ts covers its effect on the order of arrival. */
export const amountOrRest = fc.constantFrom(...amounts, 700n, DUE - 1_600n)
export const firstSeenAt = fc.constantFrom(
  T0,
  T0 + MINUTE,
  DEADLINE,
  DEADLINE + 1,
  DEADLINE + 30 * MINUTE,
  DEADLINE + 90 * MINUTE,
)
export const rateSeen = fc.constantFrom(null, '1.00', '0.98', '0.97')

export const start = () =>
  openInvoice({ mode: 'test', createdAt: T0, expiresAt: DEADLINE, endsWithQuote: false, paymentMethod }).state

/** Fails with the text of the guarantee; plain comparisons, because a matcher costs more than the transition it checks. */
export function holds(condition: boolean, guarantee: string): void {
  if (!condition) throw new Error(`broken: ${guarantee}`)
}
