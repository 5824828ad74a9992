import { expect, it } from 'vitest'
import { maybeTransactionSchema } from './wire.ts'

// Guarantee: a transaction of a million wrong contracts costs no more than one with one.
it('reads the contracts of a transaction as far as the first wrong one', () => {
  let looks = 0
  const wrong = {
    get type() {
      looks += 1
      return null
    },
  }
  const contract = Array.from({ length: 1_000 }, () => wrong)
  const transaction = { txID: '0'.repeat(64), raw_data_hex: '', raw_data: { contract } }
  expect(maybeTransactionSchema.safeParse(transaction).success).toBe(false)
  expect(looks).toBeLessThan(10)
  expect(looks).toBeGreaterThan(0)
})
