import { describe, expect, it } from 'vitest'
import { createWatchIndex } from '../watch-index.ts'
import type { SuccessfulTransaction } from './check-block.ts'
import { type ExtractContext, extractTransfers } from './extract.ts'
import { infosSchema, type TransactionInfo } from './wire.ts'

const ID = '1'.repeat(64)
const USDT = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c'
const SIBLING = '3487b63d30b5b2c87fb7ffa8bcfade38eaac1abe'
const PAYER = 'd'.repeat(40)
const OURS = '9858effd232b4033e47d90003d41ec34ecaeda94'
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const word = (hex: string) => hex.padStart(64, '0')

const watches = createWatchIndex()
watches.add(OURS)
const context: ExtractContext = {
  keyPrefix: 'test:tron',
  nativeAsset: 'trx_tron',
  tokens: new Map([
    [USDT, 'usdt_tron'],
    [SIBLING, null],
  ]),
  watches,
}

/** An info as the HTTP API sends it, through the schema that the client reads it by. */
function infoOf(fields: object): TransactionInfo {
  const [info] = infosSchema.parse([{ id: ID, blockNumber: 7, blockTimeStamp: 1, receipt: {}, ...fields }])
  if (info === undefined) throw new Error('no info')
  return info
}

const extract = (fields: object, contracts: SuccessfulTransaction['contracts'] = []) =>
  extractTransfers({ id: ID, contracts, info: infoOf(fields) }, context)

const log = (change: object = {}) => ({
  address: USDT,
  topics: [TRANSFER, word(PAYER), word(OURS)],
  data: word('f4240'),
  ...change,
})

describe('token transfers', () => {
  it('carry asset, amount, parties, and a key with their place in the transaction', () => {
    expect(extract({ log: [log({ address: PAYER }), log()] })).toEqual([
      {
        key: `test:tron:${ID}:l1`,
        matchKey: OURS,
        toAddress: 'TPrkFhZ8LH8Mruco8vXyA496TaeFBrbmeU',
        fromAddress: 'TWCL826n2tBuoR7mp6oj5FzgitmfWSwCGZ',
        asset: 'usdt_tron',
        contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
        amountBase: 1_000_000n,
        txHash: ID,
        outputIndex: null,
      },
    ])
  })

  // Guarantee: two equal transfers in one transaction are two payments.
  it('are counted one by one', () => {
    expect(extract({ log: [log(), log()] }).map(({ key }) => key)).toEqual([`test:tron:${ID}:l0`, `test:tron:${ID}:l1`])
  })

  it('count a mint, which comes from the zero account', () => {
    expect(extract({ log: [log({ topics: [TRANSFER, word(''), word(OURS)] })] })).toMatchObject([
      { amountBase: 1_000_000n },
    ])
  })

  it('record a sibling token without an asset', () => {
    expect(extract({ log: [log({ address: SIBLING })] })).toMatchObject([{ asset: null, amountBase: 1_000_000n }])
  })

  it('know a contract also with the 0x41 that other addresses have', () => {
    expect(extract({ log: [log({ address: `41${USDT}` })] })).toMatchObject([{ asset: 'usdt_tron' }])
  })

  it.each([
    ['EIP-721 transfers (four topics)', { topics: [TRANSFER, word(PAYER), word(OURS), word('1')], data: '' }],
    ['value 0, which poisons address lists', { data: word('0') }],
    ['data that is not one word', { data: `${word('1')}00` }],
    ['a log without data', { data: undefined }],
    ['a log without topics', { topics: undefined }],
    ['a fake token at another contract', { address: '9'.repeat(40) }],
    ['other events', { topics: ['c'.repeat(64), word(PAYER), word(OURS)] }],
    ['what an account sends to itself', { topics: [TRANSFER, word(OURS), word(OURS)] }],
    ['transfers to others', { topics: [TRANSFER, word(OURS), word(PAYER)] }],
  ])('ignore %s', (_what, change) => {
    // Guarantee: only the table's contracts and real value credit anybody.
    expect(extract({ log: [log(change)] })).toEqual([])
  })
})

describe('coin transfers', () => {
  const contract = (value: object, type = 'TransferContract') => [{ type, parameter: { value } }]
  const value = { owner_address: `41${PAYER}`, to_address: `41${OURS}`, amount: 7 }

  it('are taken from the transaction itself, to the last sun', () => {
    const exact = { ...value, amount: '9007199254740993' }
    expect(extract({}, contract(exact))).toMatchObject([
      { key: `test:tron:${ID}:c0`, asset: 'trx_tron', contract: null, amountBase: 9_007_199_254_740_993n },
    ])
  })

  it('are no TRC-10 tokens and no stake', () => {
    // Guarantee: only sun is TRX.
    expect(extract({}, contract({ ...value, asset_name: '31303030' }, 'TransferAssetContract'))).toEqual([])
    expect(extract({}, contract({ ...value, balance: 7 }, 'DelegateResourceContract'))).toEqual([])
  })

  it.each([
    ['no amount', { amount: undefined }],
    ['a rounded amount', { amount: 9_007_199_254_740_992 }],
    ['a negative amount', { amount: -1 }],
    ['more than an int64', { amount: '9223372036854775808' }],
    ['a recipient that is no account', { to_address: OURS }],
  ])('refuse %s', (_what, change) => {
    expect(() => extract({}, contract({ ...value, ...change }))).toThrow(
      expect.objectContaining({ name: 'NodeUnreliable' }),
    )
  })
})

describe('coins sent by contracts', () => {
  const hex = (text: string) => Buffer.from(text).toString('hex')
  const internal = (change: object = {}) => ({
    hash: '2'.repeat(64),
    caller_address: `41${PAYER}`,
    transferTo_address: `41${OURS}`,
    callValueInfo: [{ callValue: 5 }],
    note: hex('call'),
    ...change,
  })

  it('are found where the node records them', () => {
    const found = extract({ internal_transactions: [internal({ callValueInfo: [{}] }), internal()] })
    const key = `test:tron:${ID}:i:TWCL826n2tBuoR7mp6oj5FzgitmfWSwCGZ:TPrkFhZ8LH8Mruco8vXyA496TaeFBrbmeU:5:0`
    expect(found).toMatchObject([{ key, asset: 'trx_tron', amountBase: 5n, contract: null }])
    expect(extract({ internal_transactions: [internal({ note: hex('suicide') })] })).toHaveLength(1)
  })

  // Guarantee: one transfer has one key, whatever other records the node keeps; equal ones are counted.
  it('have keys that other records of the transaction do not change', () => {
    const other = internal({ note: hex('freezeForEnergy') })
    const unknown = internal({ caller_address: undefined })
    const keys = (...records: object[]) => extract({ internal_transactions: records }).map(({ key }) => key.slice(-9))
    const plain = keys(internal(), unknown, internal())
    expect(plain).toEqual(['brbmeU:5:0', 'brbmeU:5:0', 'brbmeU:5:1'].map((key) => key.slice(-9)))
    expect(keys(other, internal(), internal({ rejected: true }), unknown, other, internal())).toEqual(plain)
    expect(new Set(extract({ internal_transactions: [internal(), unknown] }).map(({ key }) => key)).size).toBe(2)
  })

  it.each([
    ['a rejected call', { rejected: true }],
    ['a TRC-10 token', { callValueInfo: [{ callValue: 5, tokenId: '1000001' }] }],
    ['no value', { callValueInfo: [{}] }],
    ['lent stake, which names its receiver', { note: hex('delegateResourceOfEnergy') }],
    ['stake that is taken back', { note: hex('unDelegateResourceOfEnergy') }],
    ['locked stake', { note: hex('freezeForBandwidth') }],
    ['a call without recipient', { transferTo_address: undefined }],
  ])('ignore %s', (_what, change) => {
    // Guarantee: what looks like a value but pays nobody credits nobody.
    expect(extract({ internal_transactions: [internal(change)] })).toEqual([])
  })
})
