import { describe, expect, it } from 'vitest'
import { FAMILIES } from '../enumerations.ts'
import { factsOf, providerOf, USAGE_UNITS, unitsOfCall } from './providers.ts'

describe('providerOf', () => {
  it.each([
    ['eth-mainnet.g.alchemy.com', 'alchemy'],
    ['BASE-MAINNET.G.ALCHEMY.COM:443', 'alchemy'],
    ['cool-silent-tree.ethereum-sepolia.quiknode.pro', 'quicknode'],
    ['mainnet.infura.io', 'infura'],
    ['geth:8545', 'geth:8545'],
    ['127.0.0.1:8545', '127.0.0.1:8545'],
    // Whoever owns a name that only looks like a provider's is another provider.
    ['alchemy.com.example.net', 'alchemy.com.example.net'],
    ['notalchemy.com', 'notalchemy.com'],
  ])('names %s %s', (host, provider) => {
    expect(providerOf(host)).toBe(provider)
  })
})

describe('unitsOfCall', () => {
  it.each([
    ['alchemy', 'evm', 'eth_getLogs', 60],
    ['alchemy', 'evm', 'eth_chainId', 0],
    ['alchemy', 'evm', 'eth_of_next_year', 20],
    ['alchemy', 'evm', 'trace_block', 20],
    ['quicknode', 'evm', 'eth_getLogs', 20],
    ['quicknode', 'evm', 'trace_block', 40],
    ['quicknode', 'solana', 'getBlock', 30],
    ['quicknode', 'bitcoin', 'getblock', 10],
    ['infura', 'evm', 'eth_call', 80],
    ['calls', 'tron', 'wallet/getnowblock', 1],
    // An own property of every object, and no method.
    ['alchemy', 'evm', 'constructor', 20],
  ] as const)('counts %s on %s for %s as %i', (unit, family, method, units) => {
    expect(unitsOfCall(unit, family, method)).toBe(units)
  })

  it('knows a figure for every unit, family and method', () => {
    for (const unit of USAGE_UNITS)
      for (const family of FAMILIES) expect(unitsOfCall(unit, family, 'anything')).toBeGreaterThan(0)
  })
})

it('states what one request for logs may span on free plans', () => {
  expect(factsOf('alchemy')?.logRangeMax.free).toBe(10)
  expect(factsOf('quicknode')?.logRangeMax.free).toBe(5)
  expect(factsOf('geth:8545')).toBeNull()
  expect(factsOf('constructor')).toBeNull()
})
