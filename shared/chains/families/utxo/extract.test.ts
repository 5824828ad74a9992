import { Transaction } from 'bitcoinjs-lib'
import { describe, expect, it } from 'vitest'
import type { OutputChainRules } from '../../definitions/chain.ts'
import { CHAINS } from '../../definitions/registry.ts'
import { createWatchIndex } from '../watch-index.ts'
import { blockTransfers, type ExtractScope, spendersAmong, transactionTransfers } from './extract.ts'
import { outpointsByWire } from './outpoint.ts'
import { type ParsedTransaction, parseTransaction } from './parse-transaction.ts'
import { createAddressPrinter } from './script-address.ts'

const HASH = '751e76e8199196d454941c45d1b3a323f1433bd6'
const WITNESS = `0014${HASH}`
const KEY_HASH = `76a914${HASH}88ac`
const HOG_ADDRESS = `5820${'ab'.repeat(32)}`
const watches = createWatchIndex()
for (const script of [WITNESS, KEY_HASH]) watches.add(script)

type Network = 'bitcoin' | 'litecoin' | 'dogecoin'

function rulesOf(network: Network): OutputChainRules {
  const { outputs } = CHAINS[network]
  if (outputs === undefined) throw new Error(`${network} has no outputs`)
  return outputs
}

const scope = (network: Network): ExtractScope => {
  const printAddress = createAddressPrinter(CHAINS[network], rulesOf(network), 'live')
  return { keyPrefix: `live:${network}`, asset: 'btc_bitcoin', dustBase: 5n, rules: rulesOf(network), printAddress }
}

function transaction(scripts: readonly string[], amountBase = 7n, inputs = 1): ParsedTransaction {
  const made = new Transaction()
  for (let index = 0; index < inputs; index += 1) made.addInput(Buffer.alloc(32, 0xaa), index)
  for (const script of scripts) made.addOutput(Buffer.from(script, 'hex'), amountBase)
  const parsed = parseTransaction(Buffer.from(made.toBuffer()))
  if (parsed === null) throw new Error('nothing parsed')
  return parsed
}

describe('transfers of a transaction', () => {
  it('are one for each output to a watched script, also when two go to the same', () => {
    const found = transactionTransfers(scope('bitcoin'), transaction([WITNESS, '6a', WITNESS]), watches, null)
    const txHash = found[0]?.txHash
    const shared = {
      matchKey: WITNESS,
      toAddress: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      fromAddress: null,
      asset: 'btc_bitcoin',
      contract: null,
      amountBase: 7n,
      txHash,
      spends: [`${'aa'.repeat(32)}:0`],
    }
    expect(found).toEqual([
      { ...shared, key: `live:bitcoin:${txHash}:0`, outputIndex: 0 },
      { ...shared, key: `live:bitcoin:${txHash}:2`, outputIndex: 2 },
    ])
  })

  // Guarantee: how many rows one transaction makes is not a stranger's choice, and no base unit of it is lost.
  it.each([
    ['dust is one', 5n, 2_000, [[0, 10_000n]]],
    ['after sixteen, the others are one', 7n, 20, [...Array.from({ length: 16 }, (_, at) => [at, 7n]), [16, 28n]]],
  ])('to one script are bounded: %s', (_what, amountBase, outputs, expected) => {
    const many = transaction(
      Array.from({ length: outputs }, () => WITNESS),
      amountBase,
      3,
    )
    const found = transactionTransfers(scope('bitcoin'), many, watches, null)
    expect(found.map(({ outputIndex, amountBase }) => [outputIndex, amountBase])).toEqual(expected)
    expect(new Set(found.map(({ spends }) => spends)).size).toBe(1)
  })

  it('leave out outputs of nothing', () => {
    expect(transactionTransfers(scope('bitcoin'), transaction([WITNESS], 0n), watches, null)).toEqual([])
  })

  it('name at most 500 of the outpoints that are spent', () => {
    const [found] = transactionTransfers(scope('bitcoin'), transaction([WITNESS], 7n, 252), watches, null)
    expect(found?.spends).toHaveLength(252)
    const many = { ...transaction([WITNESS]), inputs: Array.from({ length: 900 }, () => Buffer.alloc(36)) }
    expect(transactionTransfers(scope('bitcoin'), many, watches, null)[0]?.spends).toHaveLength(500)
  })
})

describe('transfers of a block', () => {
  // Guarantee: coins that cannot be spent yet never count as paid.
  it.each([
    ['bitcoin', 100],
    ['litecoin', 100],
    ['dogecoin', 240],
  ] as const)('from a miner of %s wait for %d confirmations', (network, confirmations) => {
    const found = blockTransfers(scope(network), [transaction([KEY_HASH]), transaction([KEY_HASH])], watches)
    expect(found.map(({ minConfirmations }) => minConfirmations)).toEqual([confirmations, undefined])
  })

  it('that come back from the extension block of Litecoin wait for six, and only there', () => {
    const block = [transaction([HOG_ADDRESS]), transaction([HOG_ADDRESS, WITNESS]), transaction([HOG_ADDRESS, WITNESS])]
    const minima = (network: 'litecoin' | 'bitcoin') =>
      blockTransfers(scope(network), block, watches).map(({ minConfirmations }) => minConfirmations)
    expect(minima('litecoin')).toEqual([undefined, 6])
    expect(minima('bitcoin')).toEqual([undefined, undefined])
  })
})

it('spenders are told for the outpoints asked for, and for no others', () => {
  const spender = transaction([WITNESS], 7n, 3)
  const requests = new Set([`${'aa'.repeat(32)}:1`, `${'aa'.repeat(32)}:9`, `${'bb'.repeat(32)}:1`])
  const [transfer] = transactionTransfers(scope('bitcoin'), spender, watches, null)
  expect([...spendersAmong([spender], outpointsByWire(requests))]).toEqual([[`${'aa'.repeat(32)}:1`, transfer?.txHash]])
  expect(spendersAmong([spender], new Map()).size).toBe(0)
})

describe('printed addresses', () => {
  const print = (network: Network, mode: 'live' | 'test', script: string) =>
    createAddressPrinter(CHAINS[network], rulesOf(network), mode)(script)
  // BIP 173 and BIP 350 test vectors, and the widely published addresses of the secret key 1.
  it.each([
    ['bitcoin', 'live', WITNESS, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['bitcoin', 'test', WITNESS, 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
    [
      'bitcoin',
      'live',
      '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
    ],
    ['bitcoin', 'live', KEY_HASH, '1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH'],
    ['litecoin', 'live', WITNESS, 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9'],
    ['dogecoin', 'live', KEY_HASH, 'DFpN6QqFfUm3gKNaxN6tNcab1FArL9cZLE'],
  ] as const)('%s %s %s', (network, mode, script, address) => {
    expect(print(network, mode, script)).toBe(address)
  })

  it('are the script itself where there is none', () => {
    for (const script of ['6a', '', `21${'02'.repeat(33)}ac`]) expect(print('bitcoin', 'live', script)).toBe(script)
    expect(print('dogecoin', 'live', WITNESS)).toBe(WITNESS)
  })

  it('of scripts begin as each network writes them', () => {
    const script = `a914${HASH}87`
    expect(print('bitcoin', 'live', script)).toMatch(/^3/)
    expect(print('litecoin', 'live', script)).toMatch(/^M/)
    expect(print('dogecoin', 'live', script)).toMatch(/^[9A]/)
  })
})
