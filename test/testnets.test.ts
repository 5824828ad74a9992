import { getAddress } from 'ethers'
import { describe, expect, it } from 'vitest'
import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { createAddressReader } from '#shared/chains/addresses/payee-address.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import type { NodeSettings } from '#shared/chains/definitions/chain.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { contractOf, TESTNETS, testnetOf } from '#shared/chains/definitions/testnets.ts'
import { parseAccount as parseTron } from '#shared/chains/families/tron/address.ts'
import { ASSET_IDS, type AssetId, NETWORK_IDS, networkOf, symbolOf } from '#shared/domain/enumerations.ts'
import { NETWORKS } from '#shared/domain/networks.ts'

const URLS = { rpcUrls: ['http://node:8545'] }
const tokens = ASSET_IDS.filter((id) => ['USDT', 'USDC'].includes(symbolOf(id)))

const acceptedOn = (node: NodeSettings) =>
  tokens.filter((id) => createCatalog({ live: {}, test: { [networkOf(id)]: node } }).accepts(id, 'test'))

describe('a row of a testnet', () => {
  it('stands for every id that the settings may name', () => {
    for (const network of NETWORK_IDS) {
      expect(Object.keys(TESTNETS[network]), network).toEqual([...NETWORKS[network].testnets])
    }
  })

  it('names tokens of its own network, in their canonical spelling, and none of the main network', () => {
    for (const network of NETWORK_IDS) {
      for (const { tokens: named } of Object.values(TESTNETS[network])) {
        for (const [asset, contract] of Object.entries(named) as [AssetId, string][]) {
          expect(networkOf(asset)).toBe(network)
          if (CHAINS[network].family === 'evm') expect(getAddress(contract)).toBe(contract)
          if (CHAINS[network].family === 'tron') expect(() => parseTron(contract)).not.toThrow()
          expect(contract).not.toBe(contractOf(asset, 'live', network, undefined))
        }
      }
    }
  })

  it('has public chain ids and first blocks', () => {
    const ids = NETWORK_IDS.flatMap((network) => CHAINS[network].chainIds?.test ?? [])
    expect(ids).toEqual([11_155_111, 97, 80_002, 84_532, 421_614])
    expect(CHAINS.bitcoin.outputs?.genesisHash.test).toMatch(/^00000000da84f2ba/)
    expect(testnetOf('bitcoin', { ...URLS, testnet: 'signet' })?.genesis).toMatch(/^00000008819873e9/)
  })
})

// Guarantee: a token without an official contract on a testnet is refused there, instead of being looked for at the main network's.
describe('tokens of a public testnet', () => {
  it('are those that their issuer names there', () => {
    expect(acceptedOn(URLS)).toEqual(['usdc_ethereum', 'usdc_polygon', 'usdc_base', 'usdc_arbitrum', 'usdc_solana'])
  })

  it('are also those that the settings name', () => {
    const catalog = createCatalog({ live: {}, test: { tron: { ...URLS, contracts: { usdt_tron: 'TXYZ' } } } })
    expect(catalog.accepts('usdt_tron', 'test')).toBe(true)
    expect(catalog.contract('usdt_tron', 'test')).toBe('TXYZ')
  })

  it('are all of them on a local chain, without a node, and in live mode', () => {
    expect(acceptedOn({ ...URLS, chainId: 31_337, genesis: 'any' })).toEqual(tokens)
    const none = createCatalog({ live: {}, test: {} })
    expect(tokens.filter((id) => none.accepts(id, 'test') && none.accepts(id, 'live'))).toEqual(tokens)
    const live = createCatalog({ live: { ethereum: URLS, tron: URLS }, test: {} })
    expect(tokens.filter((id) => live.accepts(id, 'live'))).toEqual(tokens)
  })

  it('never pass for the coin of the network when they are refused', () => {
    const catalog = createCatalog({ live: {}, test: { ethereum: URLS } })
    expect(catalog.accepts('usdt_ethereum', 'test')).toBe(false)
    expect(catalog.contract('usdt_ethereum', 'test')).not.toBeNull()
    expect(catalog.accepts('eth_ethereum', 'test')).toBe(true)
  })
})

it('links to the explorer of the testnet that is in use', () => {
  const link = (node: NodeSettings) =>
    createCatalog({ live: {}, test: { bitcoin: node } }).explorerTxUrl('bitcoin', 'test', 'ab')
  expect(link(URLS)).toBe('https://mempool.space/testnet4/tx/ab')
  expect(link({ ...URLS, testnet: 'signet' })).toBe('https://mempool.space/signet/tx/ab')
  expect(link({ ...URLS, genesis: 'any' })).toBeNull()
})

// Version bytes and prefixes: chainparams of Bitcoin, Litecoin and Dogecoin Core.
describe('addresses of testnets', () => {
  it.each([
    ['bitcoin', /^tb1q[0-9a-z]{38}$/],
    ['litecoin', /^tltc1q[0-9a-z]{38}$/],
    ['dogecoin', /^n[1-9A-HJ-NP-Za-km-z]{33}$/],
  ] as const)('%s: %s, derived and read in test mode alone', (network, form) => {
    const book = createAddressBook()
    const [first] = book.derive(network, 'test', book.sandboxKey(network).xpub, 0, 1)
    const address = first?.address ?? ''
    expect(address).toMatch(form)
    const reader = createAddressReader()
    expect(reader.read(network, 'test', address)).toMatchObject({ address, matchKey: first?.matchKey })
    expect(() => reader.read(network, 'live', address)).toThrow()
  })

  // EVM, TRON and Solana write addresses of their testnets as those of the main network.
  it.each(['evm', 'tron', 'solana'] as const)('%s: the same in both modes', (family) => {
    const book = createAddressBook()
    const { xpub } = book.sandboxKey(family)
    expect(book.derive(family, 'test', xpub, 0, 3)).toEqual(book.derive(family, 'live', xpub, 0, 3))
  })
})
