import { expect, it } from 'vitest'
import { maybeTransactionSchema } from './wire.ts'

// Guarantee: a transaction of a million wrong contracts costs no more than one with one.
it('reads the contracts of a transaction as far as the first wrong one', () => {
  const contract = Array.from({ length: 1_000 }, () => ({}))
  const read = maybeTransactionSchema.safeParse({ txID: '0'.repeat(64), raw_data_hex: '', raw_data: { contract } })
  expect(read.error?.issues).toHaveLength(1)
})
