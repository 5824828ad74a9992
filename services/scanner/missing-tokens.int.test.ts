import { expect, it, vi } from 'vitest'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createQuoteAvailability } from '#shared/usecases/quotes/availability.ts'
import { deepTest } from '#test/support/depth.ts'
import { useScanStage, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const stage = useScanStage(stores)
/** Nothing is deployed there yet. */
const NOWHERE = '0x00000000000000000000000000000000000a11ce'

/** A chain that has one of the two tokens. */
function sourceWithout() {
  const node = { rpcUrls: [stage.chain.url], chainId: 31_337, contracts: { usdc_ethereum: NOWHERE } }
  const client = createChainClient({ live: {}, test: { ethereum: node } }, 'test', 'ethereum', stores.runtime.metrics)
  if (client === null) throw new Error('no client')
  return { source: stage.source({ client }), close: () => client.close() }
}

/** Why an asset cannot be received, as a payment method and the list of currencies ask. Its workspace has no wallet. */
async function reasonOf(asset: 'usdc_ethereum' | 'usdt_ethereum' | 'eth_ethereum') {
  const { cursors, catalog, clock } = stage.deps
  const availability = createQuoteAvailability({
    ...{ cursors, catalog: { ...catalog, accepts: () => true, hasNode: () => true, blockTimeMs: () => 12_000 }, clock },
    wallets: { listWallets: async () => [], findMaterial: async () => null, listMaterials: async () => [] },
    rates: { rateFor: async () => Promise.reject(new Error('not asked')) },
    addresses: { canTake: async () => true },
  } as never)
  return availability.reason({ id: 'w', policy: {} } as never, 'test', stage.deps.catalog.asset(asset))
}

// Guarantee: a node that lacks one token refuses that asset, not the network.
it('refuses the asset whose contract a test node lacks, and scans the others', async () => {
  const { source, close } = sourceWithout()
  stage.scan({ ...source, development: true })
  await stage.untilHeight(1)
  await vi.waitFor(async () => expect((await stage.cursor())?.missingTokens).toEqual(['usdc_ethereum']), 8_000)
  expect(await reasonOf('usdc_ethereum')).toBe('asset_not_on_network')
  expect(await reasonOf('usdt_ethereum')).toBe('no_wallet')
  expect(await reasonOf('eth_ethereum')).toBe('no_wallet')
  await stage.chain.rpc('anvil_setBalance', [PAYER, '0xde0b6b3a7640000'])
  await stage.chain.rpc('anvil_impersonateAccount', [PAYER])
  await stage.chain.rpc('eth_sendTransaction', [{ from: PAYER, to: WATCHED.address, value: '0x5' }])
  await stage.chain.mine()
  await stage.untilPayments([{ amount: '5' }])
  await close()
})

// Guarantee: a token that comes later is accepted without a restart.
deepTest('accepts the asset once its contract is there', async () => {
  const { source, close } = sourceWithout()
  stage.scan({ ...source, development: true })
  await vi.waitFor(async () => expect((await stage.cursor())?.missingTokens).toEqual(['usdc_ethereum']), 8_000)
  // PUSH1 6, PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, RETURN: answers every question with 6.
  await stage.chain.rpc('anvil_setCode', [NOWHERE, '0x600660005260206000f3'])
  await vi.waitFor(async () => expect((await stage.cursor())?.missingTokens).toEqual([]), 12_000)
  expect(await reasonOf('usdc_ethereum')).toBe('no_wallet')
  await close()
})

const PAYER = '0x00000000000000000000000000000000000b0b00'
