import { describe, expect, it } from 'vitest'
import { checkHeader, successfulTransactions } from './check-block.ts'
import { type Block, blockSchema, infosSchema, type TransactionInfo } from './wire.ts'

/** A transfer of 0.001 TRX from the main network (block 44445757): its id is the hash of its bytes. */
const RAW =
  '0a0230292208cf53f47765aeb93840c8c0b5c9b6305a66080112620a2d747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e5472616e73666572436f6e747261637412310a15413282aad9080d202829c8facad65a2affa26781f0121541c17c2daa0e750051c4c109e01fa54da97a06805d18e807709d83b2c9b630'
const ID = '877db44a4aca5ae71cc5fe7d53a3316ad05ed35cdcc2d7f642061a3900aa5c1d'
const HEIGHT = 44_445_757

function blockOf(transaction: object = {}): Block {
  return blockSchema.parse({
    blockID: `${HEIGHT.toString(16).padStart(16, '0')}${'a'.repeat(48)}`,
    block_header: { raw_data: { number: HEIGHT, timestamp: 1_663_916_871_000, parentHash: 'b'.repeat(64) } },
    transactions: [
      { ret: [{ contractRet: 'SUCCESS' }], txID: ID, raw_data: { contract: [] }, raw_data_hex: RAW, ...transaction },
    ],
  })
}

const infoOf = (change: object = {}) => ({
  id: ID,
  blockNumber: HEIGHT,
  blockTimeStamp: 1_663_916_871_000,
  contractResult: [''],
  receipt: { net_fee: 100_000 },
  ...change,
})
const infos = (...entries: object[]): TransactionInfo[] => infosSchema.parse(entries)
const unreliable = expect.objectContaining({ name: 'NodeUnreliable' })

describe('a block and its infos', () => {
  it('give the transactions that succeeded', () => {
    expect(successfulTransactions(blockOf(), infos(infoOf()))).toMatchObject([{ id: ID, info: { id: ID } }])
  })

  it.each(['OUT_OF_ENERGY', 'REVERT', 'FAILED', 'DEFAULT', undefined])('give nothing for the outcome %s', (outcome) => {
    // Guarantee: a transaction that failed, or does not say, moved nothing.
    const receipt = outcome === undefined ? {} : { result: outcome }
    expect(successfulTransactions(blockOf({ ret: [{ contractRet: outcome }] }), infos(infoOf({ receipt })))).toEqual([])
  })

  it.each<[string, object, object[]]>([
    ['no infos', {}, []],
    ['an info too many', {}, [infoOf(), infoOf({ id: 'c'.repeat(64) })]],
    ['an info twice', {}, [infoOf(), infoOf()]],
    ['the info of another transaction', {}, [infoOf({ id: 'c'.repeat(64) })]],
    ['an info of another height', {}, [infoOf({ blockNumber: HEIGHT + 1 })]],
    ['an info of another block of this height', {}, [infoOf({ blockTimeStamp: 1 })]],
    ['another outcome in the receipt', {}, [infoOf({ receipt: { result: 'OUT_OF_ENERGY' } })]],
    ['a failure in the info', {}, [infoOf({ result: 'FAILED' })]],
    ['an id that is not the hash', { raw_data_hex: RAW.replace('18e807', '18e907') }, [infoOf()]],
  ])('are refused with %s', (_what, transaction, entries) => {
    // Guarantee: a node whose two answers disagree credits nothing and hides nothing.
    expect(() => successfulTransactions(blockOf(transaction), infos(...entries))).toThrow(unreliable)
  })

  it('are refused with a transaction that comes twice', () => {
    const block = blockOf()
    const doubled = { ...block, transactions: [...block.transactions, ...block.transactions] }
    expect(() => successfulTransactions(doubled, infos(infoOf()))).toThrow(/twice/)
  })
})

describe('a block header', () => {
  it('is of the height that its id begins with', () => {
    expect(() => checkHeader(blockOf(), HEIGHT)).not.toThrow()
    expect(() => checkHeader(blockOf(), HEIGHT + 1)).toThrow(unreliable)
    expect(() => checkHeader({ ...blockOf(), blockID: 'a'.repeat(64) }, HEIGHT)).toThrow(unreliable)
  })
})
