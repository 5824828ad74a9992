import { describe, expect, it } from 'vitest'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { createTraceReader } from './traces.ts'
import type { Block } from './wire.ts'

const hash = (digit: string) => `0x${digit.repeat(64)}`
const account = (digit: string) => `0x${digit.repeat(40)}`
const [PAYER, ROUTER, OURS] = [account('1'), account('2'), account('3')]

const block: Block = {
  number: 7,
  hash: hash('b'),
  parentHash: hash('a'),
  timestamp: 1_700_000_000,
  logsBloom: `0x${'0'.repeat(512)}`,
  transactions: [
    { hash: hash('1'), blockHash: hash('b'), from: PAYER, to: ROUTER, value: '0x9' },
    { hash: hash('2'), blockHash: hash('b'), from: PAYER, to: OURS, value: '0x5' },
  ],
}

/** A node that answers these methods; every other one it refuses. */
function nodeWith(answers: Readonly<Record<string, unknown>>): RpcNode {
  return {
    host: 'node',
    latencyMs: 1,
    identify: async () => {},
    headHeight: async () => 7,
    hashAt: async () => null,
    close: async () => {},
    async call(method, _params, schema) {
      const answer = method === 'eth_blockNumber' ? '0x7' : answers[method]
      if (answer === undefined) throw new RpcFailure('refused', `${method} does not exist`)
      if (answer instanceof Error) throw answer
      return schema.parse(answer)
    },
  }
}

interface Frame {
  readonly type?: string
  readonly from?: string
  readonly to?: string
  readonly value?: string
  readonly error?: string
  readonly calls?: readonly Frame[]
}

const frame = ({ calls = [], ...change }: Frame): object => ({
  type: 'CALL',
  from: ROUTER,
  to: OURS,
  value: '0x5',
  ...change,
  calls: calls.map(frame),
})

/** The same frames in the other form: flat, kinds in other words, and nothing said about what failed below a failure. */
function flat(call: Frame, position: number, path: readonly number[] = []): object[] {
  const { type = 'CALL', from = ROUTER, to = OURS, value = '0x5', error, calls = [] } = call
  const kind = type === 'SELFDESTRUCT' ? 'suicide' : type.startsWith('CREATE') ? 'create' : 'call'
  const actions = {
    suicide: { address: from, refundAddress: to, balance: value },
    create: { from, value },
    call: { from, to, value, callType: type.toLowerCase() },
  }
  const entry = {
    type: kind,
    action: actions[kind],
    result: kind === 'create' ? { address: to } : null,
    ...(error !== undefined && { error }),
    traceAddress: path,
    blockHash: hash('b'),
    transactionHash: hash(String(position + 1)),
    transactionPosition: position,
  }
  return [entry, ...calls.flatMap((inner, index) => flat(inner, position, [...path, index]))]
}

const roots = (calls: readonly Frame[], change: Frame = {}): Frame[] => [
  { from: PAYER, to: ROUTER, value: '0x9', calls, ...change },
  { from: PAYER, to: OURS, value: '0x5' },
]

function forms(frames: readonly Frame[]) {
  return [
    {
      debug_traceBlockByNumber: frames.map((result, index) => ({
        txHash: hash(String(index + 1)),
        result: frame(result),
      })),
    },
    { trace_block: frames.flatMap((root, position) => flat(root, position)) },
  ]
}

const both = (frames: readonly Frame[]) =>
  Promise.all(forms(frames).map((answers) => createTraceReader().read(nodeWith(answers), block)))

const move = { txHash: hash('1'), from: ROUTER.slice(2), to: OURS.slice(2), value: 5n }

describe('coins inside of calls, in both forms of traces', () => {
  // Guarantee: a coin is credited once, and only when it really arrived; whichever node traced it.
  it.each<[string, readonly Frame[], readonly object[]]>([
    ['case 9: a call with value', [{}], [move]],
    ['equal calls', [{}, {}], [move, move]],
    ['a self-destruct', [{ type: 'SELFDESTRUCT' }], [move]],
    ['a contract that is made with value', [{ type: 'CREATE2' }], [move]],
    ['case 8: a call that failed', [{ error: 'execution reverted' }], []],
    ['case 8: calls below a failed one', [{ error: 'execution reverted', calls: [{}, { calls: [{}] }] }, {}], [move]],
    ['a delegate call, which names a value and moves none', [{ type: 'DELEGATECALL' }], []],
    ['what a delegate call calls', [{ type: 'DELEGATECALL', calls: [{}] }], [move]],
    ['callcode and static calls', [{ type: 'CALLCODE' }, { type: 'STATICCALL' }], []],
    ['value 0', [{ value: '0x0' }], []],
  ])('%s', async (_what, calls, moves) => {
    expect(await both(roots(calls))).toEqual([moves, moves])
  })

  it('case 8: nothing of a transaction that failed as a whole', async () => {
    expect(await both(roots([{}], { error: 'out of gas' }))).toEqual([[], []])
  })
})

describe('traces that are not those of the block', () => {
  const unreliable = expect.objectContaining({ name: 'NodeUnreliable' })
  const [nested, listed] = forms(roots([{}])) as [
    { debug_traceBlockByNumber: { txHash?: string; result: object }[] },
    { trace_block: object[] },
  ]
  const change = (entries: readonly object[], with_: object) => entries.map((entry) => ({ ...entry, ...with_ }))

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['none', { trace_block: [] }],
    ['none', { debug_traceBlockByNumber: [] }],
    ['some', { debug_traceBlockByNumber: nested.debug_traceBlockByNumber.slice(1) }],
    ['another block', { trace_block: change(listed.trace_block, { blockHash: hash('c') }) }],
    ['other transactions', { trace_block: change(listed.trace_block, { transactionHash: hash('9') }) }],
    [
      'other transactions',
      { debug_traceBlockByNumber: change(nested.debug_traceBlockByNumber, { txHash: hash('9') }) },
    ],
    [
      'other senders, where hashes are left out',
      {
        debug_traceBlockByNumber: nested.debug_traceBlockByNumber.map(({ result }) => ({
          result: { ...result, from: OURS },
        })),
      },
    ],
  ])('%s: an error', async (_what, answers) => {
    await expect(createTraceReader().read(nodeWith(answers), block)).rejects.toEqual(unreliable)
  })

  it('are not known when the node fails instead of refusing', async () => {
    const reader = createTraceReader()
    const busy = nodeWith({ trace_block: new RpcFailure('retry', 'busy') })
    await expect(reader.isOffered(busy)).rejects.toEqual(unreliable)
    expect(reader.wasOffered).toBe(false)
    expect(await reader.isOffered(nodeWith({}))).toBe(false)
    expect(await reader.isOffered(nodeWith({ trace_block: [] }))).toBe(true)
    expect(reader.wasOffered).toBe(true)
  })

  it('are not asked for when the block is empty', async () => {
    expect(await createTraceReader().read(nodeWith({}), { ...block, transactions: [] })).toEqual([])
  })
})
