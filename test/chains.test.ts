import { base58 } from '@scure/base'
import { getAddress } from 'ethers'
import { describe, expect, it } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import { blocksOf } from '#shared/chains/chain-figures.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { AssetRow, ChainDefinition } from '#shared/chains/definitions/chain.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { formatAccount, parseAccount } from '#shared/chains/families/tron/address.ts'
import { tiersFault } from '#shared/contracts/tiers-fault.ts'
import { ASSET_IDS, FAMILIES, MODES, NETWORK_IDS, networkOf, symbolOf } from '#shared/domain/enumerations.ts'
import { displayUnit, parseUnits } from '#shared/domain/money/money.ts'

const catalog = createCatalog({ live: {}, test: {} })
// At the rows' own pace.
const CONFIRMATIONS = {
  bitcoin: 2,
  litecoin: 6,
  dogecoin: 40,
  ethereum: 12,
  bsc: 15,
  polygon: 86,
  base: 100,
  arbitrum: 40,
  tron: 19,
  solana: 1,
}
const NATIVE_DECIMALS = { bitcoin: 8, litecoin: 8, dogecoin: 8, evm: 18, tron: 6, solana: 9 }

/** What must hold for any network, one of ours or the next one somebody adds. */
function checkChain(chain: ChainDefinition): void {
  expect(FAMILIES).toContain(chain.family)
  expect(chain.blockTimeMs).toBeGreaterThan(0)
  const count = blocksOf(chain.confirmations, chain, null)
  const tiers = chain.confirmationTiers.map(({ fromUsd, confirmations: depth }) => ({
    fromUsd,
    confirmations: depth === 'finalized' ? depth : blocksOf(depth, chain, null),
  }))
  for (const { ms, blocksMin } of [chain.confirmations, chain.reorganisation]) {
    expect(ms).toBeGreaterThan(0)
    expect(blocksMin).toBeGreaterThan(0)
  }
  expect(blocksOf(chain.reorganisation, chain, null)).toBeGreaterThanOrEqual(count)
  expect(chain.reorganisation.ms).toBeGreaterThanOrEqual(chain.confirmations.ms)
  expect(chain.checked.on).toMatch(/^\d{4}-\d{2}-\d{2}$/)
  expect(chain.checked.source.length).toBeGreaterThan(20)
  expect(chain.risk).toMatch(/^[A-Z].*\.$/)
  expect(tiersFault(tiers, chain.outputs === undefined)).toBeNull()
  // An ordinary invoice asks for the base figure; above it nothing asks for less.
  const ordinary = tiers.findLast(({ fromUsd }) => fromUsd <= 1_000)
  expect(ordinary?.confirmations).toBe(count)
  expect(chain.finalizesAfterMs === null).toBe(chain.outputs !== undefined)
  expect(chain.scanBatchMax).toBeGreaterThan(0)
  expect(chain.chainIds === null).toBe(chain.family !== 'evm')
  for (const mode of MODES) expect(chain.explorerTx[mode] ?? 'https://{tx}').toMatch(/^https:\/\/.*\{tx\}/)
  for (const { contract } of chain.siblings) {
    if (chain.family === 'evm') expect(getAddress(contract.toLowerCase())).toBe(contract)
    if (chain.family === 'tron') expect(formatAccount(parseAccount(contract))).toBe(contract)
  }
}

describe.each(NETWORK_IDS)('network %s', (id) => {
  it('is a complete row of data', () => {
    const chain: ChainDefinition = CHAINS[id]
    expect(chain.id).toBe(id)
    checkChain(chain)
    expect(blocksOf(chain.confirmations, chain, null)).toBe(CONFIRMATIONS[id])
  })
})

describe.each(ASSET_IDS)('asset %s', (id) => {
  const row: AssetRow = ASSETS[id]
  const chain: ChainDefinition = CHAINS[networkOf(id)]
  const info = catalog.asset(id)
  const native = symbolOf(id) === chain.nativeSymbol

  it('has a contract exactly when it is a token, in canonical spelling', () => {
    expect(row.contract === null).toBe(native)
    if (row.contract !== null && chain.family === 'evm') {
      expect(getAddress(row.contract.toLowerCase())).toBe(row.contract)
    }
    expect(chain.siblings.map(({ contract }) => contract)).not.toContain(row.contract)
  })

  // Guarantee: an amount is never off by a power of ten.
  it('has the decimals of its contract or coin', () => {
    expect(row.decimals).toBe(native ? NATIVE_DECIMALS[chain.family] : networkOf(id) === 'bsc' ? 18 : 6)
  })

  it('shows payers as many decimals as the house rule says', () => {
    const expected = ['BTC', 'LTC', 'DOGE'].includes(info.symbol) ? 8 : ['USDT', 'USDC'].includes(info.symbol) ? 2 : 6
    expect(row.displayDecimals).toBe(expected)
  })

  // Guarantee: what a payer can type is never less than what the chain carries, and never more.
  it('has a minimum above its dust', () => {
    expect(info.dustBase).toBeGreaterThanOrEqual(displayUnit(info))
    expect(info.minBase).toBeGreaterThan(info.dustBase)
    expect(info.maxBase).toBeGreaterThan(info.minBase)
  })

  it('makes a payment link that names receiver, amount and token', () => {
    const address = 'receiver'
    const uri = catalog.paymentUri({ asset: id, mode: 'live', address, amountBase: parseUnits('1.5', info.decimals) })
    expect(uri).toContain(address)
    if (chain.uriScheme === null) return expect(uri).toBe(address)
    expect(uri).toMatch(chain.family === 'evm' ? /@\d+.*(value|uint256)=150+$/ : /\?amount=1\.5/)
    if (row.contract !== null) expect(uri).toContain(row.contract)
  })
})

describe('payment links', () => {
  const link = (asset: (typeof ASSET_IDS)[number]) =>
    catalog.paymentUri({ asset, mode: 'live', address: 'A', amountBase: parseUnits('0.5', ASSETS[asset].decimals) })

  it.each([
    ['btc_bitcoin', 'bitcoin:A?amount=0.5'],
    ['ltc_litecoin', 'litecoin:A?amount=0.5'],
    ['doge_dogecoin', 'dogecoin:A?amount=0.5'],
    ['eth_arbitrum', 'ethereum:A@42161?value=500000000000000000'],
    ['usdc_base', 'ethereum:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913@8453/transfer?address=A&uint256=500000'],
    ['sol_solana', 'solana:A?amount=0.5'],
    ['usdc_solana', 'solana:A?amount=0.5&spl-token=EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
    ['usdt_tron', 'A'],
  ] as const)('%s: %s', (asset, expected) => {
    expect(link(asset)).toBe(expected)
  })

  it('name the reference that tells payments to one Solana address apart', () => {
    const reference = 'ab'.repeat(32)
    const request = { mode: 'live', address: 'A', amountBase: 500_000_000n, reference } as const
    expect(catalog.paymentUri({ asset: 'sol_solana', ...request })).toBe(
      `solana:A?amount=0.5&reference=${base58.encode(Buffer.from(reference, 'hex'))}`,
    )
  })
})

describe('network settings', () => {
  const token = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
  const local = createCatalog({
    live: {},
    test: {
      ethereum: {
        rpcUrls: ['http://127.0.0.1:8545'],
        chainId: 31337,
        confirmations: 3,
        contracts: { usdt_ethereum: token },
      },
    },
  })

  it('replace chain id, contract and confirmations of their mode only', () => {
    expect(local.contract('usdt_ethereum', 'test')).toBe(token)
    expect(local.contract('usdt_ethereum', 'live')).toBe(ASSETS.usdt_ethereum.contract)
    expect(local.contract('usdc_ethereum', 'test')).toBe(ASSETS.usdc_ethereum.contract)
    expect(local.contract('eth_ethereum', 'test')).toBeNull()
    expect(local.confirmations('eth_ethereum', 'test')).toBe(3)
    expect(local.confirmations('eth_ethereum', 'live')).toBe(12)
    expect(local.paymentUri({ asset: 'usdt_ethereum', mode: 'test', address: 'A', amountBase: 1n })).toBe(
      `ethereum:${token}@31337/transfer?address=A&uint256=1`,
    )
  })

  it('say which networks have a node', () => {
    expect(local.hasNode('ethereum', 'test')).toBe(true)
    expect(local.hasNode('ethereum', 'live')).toBe(false)
    expect(local.hasNode('bsc', 'test')).toBe(false)
  })

  it('link to the explorer of the mode', () => {
    expect(local.explorerTxUrl('ethereum', 'live', '0xab')).toBe('https://etherscan.io/tx/0xab')
    expect(local.explorerTxUrl('dogecoin', 'test', 'ab')).toBeNull()
    expect(local.explorerTxUrl('ethereum', 'test', '0xab')).toBeNull()
  })
})
