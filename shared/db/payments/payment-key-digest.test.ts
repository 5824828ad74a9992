import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampleObservation } from '#test/support/db-samples.ts'
import {
  digestRange,
  paymentFromDocument,
  paymentKeyDigest,
  paymentToDocument,
  unseenDocument,
} from './payment-mapping.ts'

const hexOf = (key: string): string => paymentKeyDigest(key).toString('hex')
const part = fc.stringMatching(/^[0-9a-zA-Z-]{1,12}$/)
const transaction = fc.tuple(fc.constantFrom('live', 'test'), fc.constantFrom('ethereum', 'tron', 'bitcoin'), part)
const transferKey = fc.tuple(transaction, fc.array(part, { minLength: 1, maxLength: 5 })).map(([one, rest]) => ({
  transaction: one.join(':'),
  key: [...one, ...rest].join(':'),
}))
const increase = fc.tuple(fc.stringMatching(/^[0-9a-f]{4}$/), fc.nat(), fc.nat(9)).map(([account, amount, nth]) => ({
  transaction: `live:ethereum:d:0x${account}`,
  key: `live:ethereum:d:0x${account}:${amount}:${nth}`,
}))

describe('the digest of a transfer key', () => {
  // A changed rule would store every known payment a second time: these bytes never change.
  it('is what it was when the first row was stored', () => {
    expect(hexOf('live:ethereum:0xab:log:0')).toMatchInlineSnapshot(
      `"690c04d27e963fe7215a1eaf6b8fe9d56b22173c4a604e9c524e01f8"`,
    )
    expect(hexOf('live:ethereum:d:0xab:5:0')).toMatchInlineSnapshot(
      `"b2256b576a357ff007bfaec16bc4c9db9728616a3c9fe9c910e5778e"`,
    )
    expect(hexOf('sim:invoice:1')).toMatchInlineSnapshot(`"967d2947bfa7a112967d2947bfa7a112c749248d4556917982b6fa18"`)
    expect(paymentKeyDigest('other').value()).toHaveLength(28)
  })

  // Guards money: two keys are two payments, and one key is one.
  it('is equal for equal keys only', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => (hexOf(one) === hexOf(other)) === (one === other)),
      { numRuns: 20_000 },
    )
  })

  it('lies in the range of its transaction or account, and in no other', () => {
    const key = fc.oneof(transferKey, increase)
    fc.assert(
      fc.property(key, key, (one, other) => {
        const { $gte, $lte } = digestRange(one.transaction)
        const isIn = (digest: Buffer) =>
          Buffer.compare(digest, Buffer.from($gte.value())) >= 0 &&
          Buffer.compare(digest, Buffer.from($lte.value())) <= 0
        const at = (key: string) => Buffer.from(paymentKeyDigest(key).value())
        return isIn(at(one.key)) && isIn(at(other.key)) === (one.transaction === other.transaction)
      }),
      { numRuns: 20_000 },
    )
  })

  // Guards money: a text and its digest never part, whichever way a row is made, and no reader depends on the digest.
  it('is stored with every payment, and belongs to its text', () => {
    fc.assert(
      fc.property(fc.oneof(transferKey, increase), ({ key }) => {
        const row = unseenDocument(sampleObservation(key), 'id', 1)
        const payment = paymentFromDocument(row)
        const again = paymentToDocument(payment)
        return (
          [row, again].every(
            ({ keyDigest }) =>
              keyDigest !== undefined && Buffer.compare(keyDigest.value(), paymentKeyDigest(key).value()) === 0,
          ) && !('keyDigest' in payment)
        )
      }),
      { numRuns: 2_000 },
    )
  })
})
