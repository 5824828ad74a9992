import { describe, expect, it } from 'vitest'
import { readPrepared, signatureOf } from './tron-transfer.ts'

const TRANSACTION = {
  txID: 'ab'.repeat(32),
  raw_data: { contract: [{ type: 'TransferContract', parameter: { value: { amount: 5, to_address: '41aa' } } }] },
  raw_data_hex: '0a02',
}
const SIGNATURE = 'cd'.repeat(65)
const signed = (change: object = {}) => ({ ...structuredClone(TRANSACTION), signature: [SIGNATURE], ...change })

describe('what a TRON wallet signed', () => {
  it('is taken where it is what the wallet was given, in whatever order of fields', () => {
    expect(signatureOf(TRANSACTION, signed())).toBe(SIGNATURE)
    expect(signatureOf(TRANSACTION, signed({ signature: [`0x${SIGNATURE.toUpperCase()}`], visible: false }))).toBe(
      `0x${SIGNATURE.toUpperCase()}`,
    )
    const { raw_data, ...rest } = signed()
    expect(signatureOf(TRANSACTION, { raw_data, ...rest })).toBe(SIGNATURE)
  })

  // Guards money: a wallet that signs something else has nothing sent by this page.
  it.each([
    ['other bytes', { raw_data_hex: '0a03' }],
    ['another id', { txID: 'ac'.repeat(32) }],
    [
      'another recipient in JSON',
      {
        raw_data: { contract: [{ type: 'TransferContract', parameter: { value: { amount: 5, to_address: '41bb' } } }] },
      },
    ],
    ['a second contract', { raw_data: { contract: [...TRANSACTION.raw_data.contract, {}] } }],
    ['nothing in JSON', { raw_data: null }],
    ['no signature', { signature: [] }],
    ['two signatures', { signature: [SIGNATURE, SIGNATURE] }],
    ['a signature that is none', { signature: ['signed!'] }],
    ['a signature that is no list', { signature: SIGNATURE }],
  ])('is not taken with %s', (_what, change) => {
    expect(signatureOf(TRANSACTION, signed(change))).toBeNull()
  })

  it.each([undefined, null, true, 'signed', []])('is not taken as %j', (value) => {
    expect(signatureOf(TRANSACTION, value)).toBeNull()
  })
})

it('what the checkout prepared is read, and nothing else', () => {
  const prepared = { chainId: '0x2b6653dc', transaction: TRANSACTION }
  expect(readPrepared(JSON.stringify(prepared))).toEqual(prepared)
  for (const text of [
    '',
    '{',
    'null',
    '{}',
    JSON.stringify({ ...prepared, chainId: 5 }),
    JSON.stringify({ ...prepared, transaction: { txID: 'x', raw_data_hex: '' } }),
  ])
    expect(readPrepared(text), text).toBeNull()
})
