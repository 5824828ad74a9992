import { expect, it } from 'vitest'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { COIN_TRANSFER_TOPIC, SYSTEM_COIN } from './extract.ts'
import { createTransferCheck } from './transfer-check.ts'

const hash = (digit: string) => `0x${digit.repeat(64)}`
const word = (hex: string) => hex.padStart(64, '0')
const [payer, ours] = ['1'.repeat(40), '3'.repeat(40)]
const [txHash, blockHash] = [hash('a'), hash('b')]

let transactionIndex = '0x2'

/** A node whose transaction moved 5 base units of the network's coin, which that network logs. */
const node = {
  async call(_method: string, _params: unknown, schema: { parse(answer: unknown): unknown }) {
    const place = { blockNumber: '0x7', blockHash, transactionHash: txHash, transactionIndex, logIndex: '0x9' }
    const topics = [COIN_TRANSFER_TOPIC, hash('0'), `0x${word(payer)}`, `0x${word(ours)}`]
    const log = { ...place, address: SYSTEM_COIN, topics, data: `0x${word('5')}${word('0').repeat(4)}` }
    return schema.parse({ transactionHash: txHash, blockHash, blockNumber: '0x7', status: '0x1', logs: [log] })
  },
} as unknown as RpcNode

const unshown = createTransferCheck('live:polygon', 'pol_polygon')
const key = (amount: bigint, ordinal: number) => `live:polygon:${txHash}:p:0x${payer}:0x${ours}:${amount}:${ordinal}`
const seen = (transferKey: string, amountBase: bigint) => ({
  txHash,
  height: 7,
  blockHash,
  transfer: { key: transferKey, matchKey: ours, contract: null, amountBase },
})

// Guarantee: of coins that a network logs, another amount, or one more equal transfer than there is, is not vouched for.
it.each([
  ['as it is', seen(key(5n, 0), 5n), true],
  ['stored beside one of another amount', seen(`${key(5n, 0)}:5`, 5n), true],
  ['of another amount', seen(key(6n, 0), 6n), false],
  ['a second time', seen(key(5n, 1), 5n), false],
])('a logged coin %s', async (_what, question, expected) => {
  expect(await unshown(node, [question])).toEqual(expected ? [] : [txHash])
})

// Guarantee: a number that a node writes takes no memory and no time: the other nodes still count.
it.each(['0x1fffffffffffff', '0xfffffffe'])('a logged coin whose transaction is said to be at %s', async (index) => {
  transactionIndex = index
  expect(await unshown(node, [seen(key(5n, 0), 5n)])).toEqual([])
})
