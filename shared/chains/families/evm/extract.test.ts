import { describe, expect, it } from 'vitest'
import { createWatchIndex } from '../watch-index.ts'
import {
  COIN_TRANSFER_TOPIC,
  coinTransfers,
  loggedCoinMoves,
  nativeTransfers,
  SYSTEM_COIN,
  type TokenTable,
  TRANSFER_TOPIC,
  tokenTransfers,
} from './extract.ts'
import type { Block, Log } from './wire.ts'

const PREFIX = 'test:ethereum'
const USDT = '0xdac17f958d2ee523a2206206994597c13d831ec7'
const SIBLING = '0x2791bca1f2de4661ed88a30c99a7a9449aa84174'
const PAYER = '70997970c51812dc3a010c7d01b50e0d17dc79c8'
const OURS = '9858effd232b4033e47d90003d41ec34ecaeda94'
const hash = (digit: string) => `0x${digit.repeat(64)}`
const word = (hex: string) => `0x${hex.padStart(64, '0')}`

const block: Block = {
  number: 7,
  hash: hash('b'),
  parentHash: hash('a'),
  timestamp: 1_700_000_000,
  logsBloom: `0x${'0'.repeat(512)}`,
  transactions: [
    { hash: hash('1'), blockHash: hash('b'), from: `0x${PAYER}`, to: USDT, value: '0x0' },
    { hash: hash('2'), blockHash: hash('b'), from: `0x${PAYER}`, to: `0x${OURS.toUpperCase()}`, value: '0x5' },
    { hash: hash('3'), blockHash: hash('b'), from: `0x${PAYER}`, to: null, value: '0x5' },
    { hash: hash('4'), blockHash: hash('b'), from: `0x${PAYER}`, to: `0x${OURS}`, value: '0x0' },
  ],
}

function transferLog(change: Partial<Log> = {}): Log {
  return {
    address: USDT,
    topics: [TRANSFER_TOPIC, word(PAYER), word(OURS)],
    data: word('f4240'),
    blockNumber: 7,
    blockHash: block.hash,
    transactionHash: hash('1'),
    transactionIndex: 0,
    logIndex: 0,
    ...change,
  }
}

const tokens: TokenTable = new Map([
  [USDT, 'usdt_ethereum'],
  [SIBLING, null],
])
const watches = createWatchIndex()
watches.add(OURS)
const extract = (...logs: Log[]) => tokenTransfers(PREFIX, block, logs, tokens, watches)

describe('token transfers', () => {
  it('case 3: carry asset, amount, parties and a key without the position of the log', () => {
    expect(extract(transferLog())).toEqual([
      {
        key: `${PREFIX}:${hash('1')}:t:${USDT}:0x${PAYER}:0x${OURS}:1000000:0`,
        matchKey: OURS,
        toAddress: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
        fromAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        asset: 'usdt_ethereum',
        contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
        amountBase: 1_000_000n,
        txHash: hash('1'),
        outputIndex: null,
      },
    ])
    expect(extract(transferLog({ logIndex: 9 }))[0]?.key).toBe(extract(transferLog())[0]?.key)
  })

  // Guarantee: two equal transfers in one transaction are two payments, in whatever order a node lists them.
  it('case 6: count equal transfers of one transaction', () => {
    const twice = extract(transferLog({ logIndex: 4 }), transferLog({ logIndex: 2 }))
    expect(twice.map(({ key }) => key.slice(-2))).toEqual([':0', ':1'])
    expect(
      extract(transferLog(), transferLog({ logIndex: 1, data: word('2') })).map(({ key }) => key.slice(-2)),
    ).toEqual([':0', ':0'])
  })

  it.each([
    ['EIP-721 transfers (four topics)', { topics: [TRANSFER_TOPIC, word(PAYER), word(OURS), word('1')], data: '0x' }],
    ['value 0, which poisons address lists', { data: word('0') }],
    ['data that is not one word', { data: `${word('1')}${'0'.repeat(64)}` }],
    ['a fake token at another contract', { address: `0x${'9'.repeat(40)}` }],
    ['other events', { topics: [hash('c'), word(PAYER), word(OURS)] }],
    ['transfers to others', { topics: [TRANSFER_TOPIC, word(OURS), word(PAYER)] }],
    ['what an account sends to itself', { topics: [TRANSFER_TOPIC, word(OURS), word(OURS)] }],
    [
      'the log of coins by the system address of EIP-7708',
      { address: `0x${'f'.repeat(39)}e`, topics: [TRANSFER_TOPIC, word(PAYER), word(OURS)] },
    ],
  ])('case 7: ignore %s', (_what, change) => {
    // Guarantee: only the table's contracts and real value credit anybody.
    expect(extract(transferLog(change))).toEqual([])
  })

  it('case 7: record a sibling token without an asset', () => {
    expect(extract(transferLog({ address: SIBLING }))).toMatchObject([{ asset: null, amountBase: 1_000_000n }])
  })

  it('count mints, by which bridged tokens arrive', () => {
    expect(extract(transferLog({ topics: [TRANSFER_TOPIC, word('0'), word(OURS)] }))).toMatchObject([
      { amountBase: 1_000_000n, fromAddress: `0x${'0'.repeat(40)}` },
    ])
  })

  it('case 10: take an amount of 18 decimals exactly', () => {
    const amount = 1_000_000_000_000_000_001n
    expect(extract(transferLog({ data: word(amount.toString(16)) }))[0]?.amountBase).toBe(amount)
  })

  it.each([
    ['another block', { blockHash: hash('c') }],
    ['another height', { blockNumber: 8 }],
    ['a transaction that is not in the block', { transactionHash: hash('9') }],
    ['a withdrawn state', { removed: true }],
  ])('refuse logs of %s', (_what, change) => {
    // Guarantee: a node that mixes branches credits nothing.
    expect(() => extract(transferLog(change))).toThrow(expect.objectContaining({ name: 'NodeUnreliable' }))
  })

  it('refuse a log that comes twice', () => {
    expect(() => extract(transferLog(), transferLog())).toThrow(/twice/)
  })
})

describe('native transfers', () => {
  it('are value sent to a watched address, and nothing else', () => {
    expect(nativeTransfers(PREFIX, block, 'eth_ethereum', watches)).toEqual([
      {
        key: `${PREFIX}:${hash('2')}:n`,
        matchKey: OURS,
        toAddress: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
        fromAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        asset: 'eth_ethereum',
        contract: null,
        amountBase: 5n,
        txHash: hash('2'),
        outputIndex: null,
      },
    ])
  })
})

describe('coins that the network logs itself', () => {
  const coinLog = (change: Partial<Log> = {}) =>
    transferLog({
      address: SYSTEM_COIN,
      topics: [COIN_TRANSFER_TOPIC, word('1010'), word(PAYER), word(OURS)],
      data: `0x${['5', '64', '0', '5f', '5'].map((value) => value.padStart(64, '0')).join('')}`,
      ...change,
    })
  const coins = (...logs: Log[]) =>
    coinTransfers(PREFIX, loggedCoinMoves(block, logs), 'pol_polygon', watches).map(({ key }) => key)
  const key = `${PREFIX}:${hash('1')}:p:0x${PAYER}:0x${OURS}:5`

  it('have the amount of the first word, and are counted when they are equal', () => {
    expect(coins(coinLog({ logIndex: 3 }), coinLog({ logIndex: 1 }))).toEqual([`${key}:0`, `${key}:1`])
  })

  // Guarantee: neither fees nor look-alikes nor nothing at all are credited as coins.
  it.each([
    ['logs of fees', { topics: [hash('4'), word('1010'), word(PAYER), word(OURS)] }],
    ['the same log of another contract', { address: USDT }],
    ['data of another length', { data: word('5') }],
    ['value 0', { data: `0x${'0'.repeat(320)}` }],
    ['what an account sends to itself', { topics: [COIN_TRANSFER_TOPIC, word('1010'), word(OURS), word(OURS)] }],
    ['coins of others', { topics: [COIN_TRANSFER_TOPIC, word('1010'), word(OURS), word(PAYER)] }],
  ])('ignore %s', (_what, change) => {
    expect(coins(coinLog(change))).toEqual([])
  })
})
