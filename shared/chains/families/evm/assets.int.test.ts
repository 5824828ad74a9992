import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { testTokenCode } from '#dev/local-chain/install-tokens.ts'
import { nodeRpc } from '#dev/local-chain/node-rpc.ts'
import { call, DEVELOPMENT_PAYER, payOnLocalChain } from '#dev/local-chain/pay.ts'
import { type LocalChain, startLocalChain } from '#dev/local-chain/start-local-chain.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { AssetRow, ChainDefinition } from '#shared/chains/definitions/chain.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { ASSET_IDS, NETWORK_IDS, type NetworkId, networkOf, symbolOf } from '#shared/domain/enumerations.ts'

const OURS = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94'
const watches = createWatchIndex()
watches.add(OURS.slice(2).toLowerCase())
const EVM_ASSETS = ASSET_IDS.filter((id) => CHAINS[networkOf(id)].family === 'evm')
const rowOf = (id: (typeof EVM_ASSETS)[number]): AssetRow => ASSETS[id]
const siblingsOf = (network: NetworkId) => (CHAINS[network] as ChainDefinition).siblings

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain({ blockTimeMs: null })
  const install = (contract: string, symbol: string, decimals: number) =>
    chain.rpc('anvil_setCode', [contract, testTokenCode({ symbol, decimals })])
  for (const id of EVM_ASSETS) {
    const { contract, decimals } = rowOf(id)
    if (contract !== null) await install(contract, symbolOf(id), decimals)
    for (const sibling of siblingsOf(networkOf(id))) await install(sibling.contract, sibling.symbol, 6)
  }
})
afterAll(() => chain.stop())

const opened: OpenChainClient[] = []
afterEach(async () => {
  for (const client of opened.splice(0)) await client.close()
})

async function open(network: NetworkId): Promise<OpenChainClient> {
  const node = { rpcUrls: [chain.url], chainId: 31_337 }
  const client = createChainClient({ live: {}, test: { [network]: node } }, 'test', network, {
    count: () => {},
    gauge: () => {},
    observe: () => {},
  })
  if (client === null) throw new Error(`no client of ${network}`)
  opened.push(client)
  await client.verify()
  return client
}

async function mined(client: OpenChainClient) {
  await chain.mine()
  const { height } = await client.head()
  const [block] = await client.scan(height, height, watches)
  return block?.transfers ?? []
}

describe('every asset of the EVM networks', () => {
  // Guarantee: each is received exactly, in the base units of its own contract.
  it.each(EVM_ASSETS)('%s', async (asset) => {
    const client = await open(networkOf(asset))
    const { contract, decimals } = rowOf(asset)
    const amountBase = 10n ** BigInt(decimals) + 1n
    await payOnLocalChain({ rpcUrl: chain.url, contract, to: OURS, amountBase })
    expect(await mined(client)).toMatchObject([{ asset, amountBase, contract, toAddress: OURS }])
  })

  it.each(['usdt_bsc', 'usdc_bsc'] as const)('case 10: %s has 18 decimals', async (asset) => {
    const client = await open('bsc')
    const amountBase = 1_000_000_000_000_000_001n
    await payOnLocalChain({ rpcUrl: chain.url, contract: ASSETS[asset].contract, to: OURS, amountBase })
    expect(await mined(client)).toMatchObject([{ asset, amountBase }])
    expect(ASSETS[asset].decimals).toBe(18)
  })
})

describe('what is not an accepted asset of its network', () => {
  const EVM_NETWORKS = NETWORK_IDS.filter((id) => CHAINS[id].family === 'evm')

  // Guarantee: what payers send by mistake is seen, and credited to nobody as something else.
  it.each(EVM_NETWORKS)('case 7: sibling tokens of %s have no asset', async (network) => {
    const client = await open(network)
    const contracts = siblingsOf(network).map(({ contract }) => contract)
    expect(contracts).not.toEqual([])
    for (const contract of contracts) await payOnLocalChain({ rpcUrl: chain.url, contract, to: OURS, amountBase: 5n })
    const found = (await mined(client)).map(({ asset, contract, amountBase }) => [asset, contract, amountBase])
    expect(found.sort()).toEqual(contracts.map((contract) => [null, contract, 5n]).sort())
  })

  it('case 7: Tether on Base and what exchanges hand out for ether and bitcoin over BSC are among them', () => {
    const isSibling = (network: NetworkId, contract: string) =>
      siblingsOf(network).some((sibling) => sibling.contract === contract)
    expect(isSibling('base', '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2')).toBe(true)
    expect(isSibling('bsc', '0x2170Ed0880ac9A755fd29B2688956BD959F933F8')).toBe(true)
    expect(isSibling('bsc', '0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c')).toBe(true)
  })

  it('case 7: a token at any other contract is nothing, whatever it calls itself', async () => {
    const client = await open('ethereum')
    const contract = `0x${'9'.repeat(40)}`
    await chain.rpc('anvil_setCode', [contract, testTokenCode({ symbol: 'USDT', decimals: 6 })])
    await payOnLocalChain({ rpcUrl: chain.url, contract, to: OURS, amountBase: 5n })
    expect(await mined(client)).toEqual([])
  })

  it('case 7: a transfer of value 0 poisons nothing', async () => {
    const client = await open('ethereum')
    const { contract } = ASSETS.usdt_ethereum
    await payOnLocalChain({ rpcUrl: chain.url, contract, to: OURS, amountBase: 0n })
    expect(await mined(client)).toEqual([])
  })
})

it('a mint pays like any transfer: bridged tokens arrive so', async () => {
  const client = await open('arbitrum')
  const { contract } = ASSETS.usdt_arbitrum
  const transaction = { from: DEVELOPMENT_PAYER, to: contract, gas: '0x30d40', data: call('40c10f19', OURS, 7n) }
  await nodeRpc(chain.url, 'eth_sendTransaction', [transaction])
  expect(await mined(client)).toMatchObject([{ asset: 'usdt_arbitrum', amountBase: 7n }])
})
