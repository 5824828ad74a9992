import { expect, it } from 'vitest'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { COIN_TRANSFER_TOPIC, SYSTEM_COIN } from './extract.ts'
import { createTraceReader } from './traces.ts'
import { createTransferCheck } from './transfer-check.ts'

const hash = (digit: string) => `0x${digit.repeat(64)}`
const word = (hex: string) => hex.padStart(64, '0')
const [payer, ours] = ['1'.repeat(40), '3'.repeat(40)]
const [txHash, blockHash] = [hash('a'), hash('b')]

/** A node whose transaction moved 5 base units of the network's coin, which that network logs. */
const node = {
  async call(_method: string, _params: unknown, schema: { parse(answer: unknown): unknown }) {
    const place = { blockNumber: '0x7', blockHash, transactionHash: txHash, transactionIndex: '0x2', logIndex: '0x9' }
    const topics = [COIN_TRANSFER_TOPIC, hash('0'), `0x${word(payer)}`, `0x${word(ours)}`]
    const log = { ...place, address: SYSTEM_COIN, topics, data: `0x${word('5')}${word('0').repeat(4)}` }
    return schema.parse({ transactionHash: txHash, blockHash, blockNumber: '0x7', status: '0x1', logs: [log] })
  },
} as unknown as RpcNode

const unshown = createTransferCheck('live:polygon', 'pol_polygon', createTraceReader())
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

/** A node in whose block one call moved 5 base units, if it traces at all. */
function tracing(how: 'traces' | 'none' | 'pruned' | 'slow' | 'deaf') {
  const action = { from: `0x${payer}`, to: `0x${ours}`, value: '0x5', callType: 'call' }
  const root = { blockHash, transactionHash: txHash, transactionPosition: 0, traceAddress: [], type: 'call', action }
  const answers: Record<string, unknown> = {
    eth_blockNumber: '0x9',
    eth_getTransactionReceipt: { transactionHash: txHash, blockHash, blockNumber: '0x7', status: '0x1', logs: [] },
    eth_getBlockByNumber: {
      ...{ number: '0x7', hash: blockHash, parentHash: hash('c'), timestamp: '0x1', logsBloom: `0x${'0'.repeat(512)}` },
      transactions: [{ hash: txHash, blockHash, from: `0x${payer}`, to: `0x${payer}`, value: '0x0' }],
    },
    trace_block: [root, { ...root, traceAddress: [0] }],
    trace_transaction: [root, { ...root, traceAddress: [0] }],
  }
  return {
    async call(method: string, [height]: readonly unknown[], schema: { parse(answer: unknown): unknown }) {
      const isTrace = method.startsWith('trace') || method.startsWith('debug')
      if (isTrace && how === 'none') throw new RpcFailure('refused', 'no traces')
      // A stranger's transaction in the block makes its traces too slow; the second kind answers no trace at all.
      if (height === '0x7' && how === 'slow' && method === 'trace_block') throw new RpcFailure('retry', 'timed out')
      if (isTrace && how === 'deaf' && height !== '0x9') throw new RpcFailure('retry', 'timed out')
      if (isTrace && how === 'pruned' && height === '0x7') throw new RpcFailure('pruned', 'no state')
      return schema.parse(answers[method])
    },
  } as unknown as RpcNode
}

// Guarantee: coins inside of calls are compared where the second node traces; elsewhere their transaction is enough.
it.each([
  ['traces', 5n, true],
  ['traces', 6n, false],
  ['none', 6n, true],
  ['pruned', 6n, true],
  ['slow', 5n, true],
  ['slow', 6n, false],
  ['deaf', 5n, false],
] as const)('a node with %s is asked about %s inside of a call', async (how, amount, expected) => {
  const question = seen(`live:ethereum:${txHash}:i:0x${payer}:0x${ours}:${amount}:0`, amount)
  const check = createTransferCheck('live:ethereum', 'eth_ethereum', createTraceReader())
  expect(await check(tracing(how), [question])).toEqual(expected ? [] : [txHash])
})

// Guarantee: a block whose traces take too long holds up the payments inside of calls alone, not those beside them.
it('vouches for a plain transfer in a block whose traces time out', async () => {
  const inside = seen(`live:ethereum:${txHash}:i:0x${payer}:0x${ours}:5:0`, 5n)
  const plain = { ...seen(`live:ethereum:${hash('d')}:n`, 5n), txHash: hash('d') }
  const node = tracing('deaf')
  const beside = {
    async call(method: string, params: readonly unknown[], schema: { parse(answer: unknown): unknown }) {
      if (params[0] !== plain.txHash) return node.call(method, params, schema as never)
      if (method === 'eth_getTransactionReceipt')
        return schema.parse({ transactionHash: plain.txHash, blockHash, blockNumber: '0x7', status: '0x1', logs: [] })
      const transfer = { hash: plain.txHash, blockHash, blockNumber: '0x7', from: `0x${payer}`, to: `0x${ours}` }
      return schema.parse({ ...transfer, value: '0x5' })
    },
  } as unknown as RpcNode
  const check = createTransferCheck('live:ethereum', 'eth_ethereum', createTraceReader())
  expect(await check(beside, [inside, plain])).toEqual([txHash])
})
