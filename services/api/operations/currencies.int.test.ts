import { HDNodeWallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiDeps } from '#services/api/api-deps.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import type { NodeSettings } from '#shared/chains/definitions/chain.ts'
import { currencyResource } from '#shared/contracts/http/currency-resource.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { ASSET_IDS, type Mode } from '#shared/domain/enumerations.ts'
import { NO_MARKS } from '#shared/usecases/marks/marks.ts'
import { createQuoteOffers } from '#shared/usecases/quotes/addresses.ts'
import { createQuoteAvailability } from '#shared/usecases/quotes/availability.ts'
import { createQuotePreparer } from '#shared/usecases/quotes/prepare-quote.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'

const stores = useStores()
const NODE = { rpcUrls: ['http://127.0.0.1:1'], confirmations: 3 }
const XPUB = HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', "m/44'/60'/0'").neuter().extendedKey
const MINUTE = 60_000
let api: TestApi

beforeAll(async () => {
  api = await openApi(stores, { deps: (deps) => withLiveNode(deps) })
})
afterAll(() => api.close())

const LOCAL_NODE = { ...NODE, chainId: 31_337 }

/** The edge as it is wired, with a node for live Ethereum besides the one for its test network. */
function withLiveNode(
  { clock, logger, metrics, random, rates }: ApiDeps,
  testNode: NodeSettings = LOCAL_NODE,
): Partial<ApiDeps> {
  const catalog = createCatalog({ live: { ethereum: NODE }, test: { ethereum: testNode } })
  const wallets = createWalletRepository(stores.db)
  const cursors = createCursorRepository(stores.db)
  const invoices = createInvoiceRepository(stores.db)
  const addresses = createQuoteOffers({ clock, logger, metrics, random, wallets, catalog, invoices, marks: NO_MARKS })
  const availability = createQuoteAvailability({ wallets, cursors, catalog, clock, rates, addresses })
  return { catalog, availability, paymentMethods: createQuotePreparer({ catalog, rates, availability, addresses }) }
}

async function list(key: string) {
  const { status, json } = await api.call('GET', '/currencies', { key })
  expect([status, json.meta]).toEqual([200, { next_cursor: null, has_more: false }])
  return currencyResource.array().parse(json.data)
}

/** Reasons by asset; null = available. Also creates an invoice in every asset and holds its answer against the list. */
async function reasonsThatCreateShares(mode: Mode, workspaceId?: string): Promise<Record<string, string | null>> {
  const { apiKey } = await api.newKey(mode, undefined, workspaceId)
  const currencies = await list(apiKey)
  for (const { id, available, unavailable_reason: reason } of currencies) {
    expect(available).toBe(reason === null)
    const body = { amount: '100000.00', currency: 'USD', asset: id }
    const { status, json } = await api.call('POST', '/invoices', { key: apiKey, body })
    const expected =
      reason === null ? 201 : reason === 'rates_unavailable' ? 'RATES_UNAVAILABLE' : 'NO_WALLET_FOR_ASSET'
    expect([id, reason, status === 201 ? status : json.error.code]).toEqual([id, reason, expected])
  }
  return Object.fromEntries(currencies.map(({ id, unavailable_reason }) => [id, unavailable_reason]))
}

async function refresh(): Promise<void> {
  // Past the second for which a process may keep what it knows of the rates.
  api.engine.advance(2_000)
  await api.engine.publishRates()
  // Each round of creates takes 22 of the few addresses that the engine derives.
  await api.engine.watchEverything()
}

describe('GET /currencies', () => {
  it('lists all 22 assets in the order of the specification', async () => {
    const currencies = await list(api.testKey)
    expect(currencies.map(({ id }) => id)).toEqual(ASSET_IDS)
    expect(currencies.find(({ id }) => id === 'usdt_ethereum')).toMatchObject({
      object: 'currency',
      livemode: false,
      symbol: 'USDT',
      network: 'ethereum',
      name: 'Tether USD',
      decimals: 6,
      contract_address: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
      min_amount: '0.5',
      confirmations: 3,
      available: true,
      unavailable_reason: null,
      watched: true,
    })
    expect(currencies.find(({ id }) => id === 'btc_bitcoin')).toMatchObject({ contract_address: null, watched: false })
  })

  it("shows the workspace's own confirmations", async () => {
    const workspace = await api.newWorkspace()
    await api.updateWorkspace(workspace.id, { policy: { confirmations: { usdt_ethereum: 7 } } })
    const currencies = await list((await api.newKey('test', undefined, workspace.id)).apiKey)
    expect(currencies.find(({ id }) => id === 'usdt_ethereum')?.confirmations).toBe(7)
    expect(currencies.find(({ id }) => id === 'eth_ethereum')?.confirmations).toBe(3)
  })

  it.each(['limit=5', 'cursor=x', 'fiat=USD', '=', '__proto__=x'])('takes no parameter: %s is a 400', async (query) => {
    const { status, json } = await api.call('GET', `/currencies?${query}`)
    expect([status, json.error.code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(json.error.details.map(({ path }: { path: string }) => path)).toEqual([query.slice(0, query.indexOf('='))])
  })

  it('needs a key and the scope', async () => {
    expect((await api.call('GET', '/currencies', { key: null })).status).toBe(401)
    const { apiKey } = await api.newKey('test', ['payments:read'])
    const { status, json } = await api.call('GET', '/currencies', { key: apiKey })
    expect([status, json.error.code]).toEqual([403, 'FORBIDDEN_SCOPE'])
  })
})

// Guarantee: what the list says is what a create answers, for every asset and every reason.
describe('a currency is available exactly when an invoice can be created in it', () => {
  it('everything in test mode', async () => {
    expect(new Set(Object.values(await reasonsThatCreateShares('test')))).toEqual(new Set([null]))
  })

  it('no_wallet and network_not_configured, then addresses_exhausted, then available', async () => {
    const { engine } = api
    const workspace = await api.newWorkspace()
    const reasons = await reasonsThatCreateShares('live', workspace.id)
    expect(reasons).toMatchObject({ usdt_ethereum: 'no_wallet', usdt_tron: 'network_not_configured' })

    const wallet = {
      workspaceId: workspace.id,
      mode: 'live',
      family: 'evm',
      kind: 'xpub',
      value: XPUB,
      startIndex: 0,
    } as const
    await addWallet({ ...engine.deps, addressBook: engine.addressBook, secretBox: engine.secretBox }, wallet)
    // Derived addresses may not be issued before the scanner watches them.
    const unwatched = await reasonsThatCreateShares('live', workspace.id)
    expect(unwatched).toMatchObject({ usdt_ethereum: 'addresses_exhausted', eth_base: 'network_not_configured' })

    const rows = await engine.deps.wallets.unmarkedWatches('live', 'evm', 'ethereum', 100)
    await engine.deps.wallets.markWatched(
      'live',
      'evm',
      'ethereum',
      rows.map(({ matchKey }) => matchKey),
    )
    // Past the half second for which a process keeps the marks of addresses that it could not issue.
    engine.advance(1_000)
    const watched = await reasonsThatCreateShares('live', workspace.id)
    expect(watched).toMatchObject({ usdt_ethereum: null, eth_ethereum: null, usdc_ethereum: null })
  })

  it('addresses_exhausted when the last address is gone', async () => {
    const workspace = await api.newWorkspace()
    const { apiKey } = await api.newKey('live', undefined, workspace.id)
    const { engine } = api
    const wallet = {
      workspaceId: workspace.id,
      mode: 'live',
      family: 'evm',
      kind: 'xpub',
      value: XPUB,
      startIndex: 0,
    } as const
    await addWallet({ ...engine.deps, addressBook: engine.addressBook, secretBox: engine.secretBox }, wallet)
    const body = { amount: '25.00', currency: 'USD', asset: 'eth_ethereum' }
    const create = () => api.call('POST', '/invoices', { key: apiKey, body })
    let last = await create()
    expect(last.status).toBe(201)
    while (last.status === 201) last = await create()
    expect(last.json.error.code).toBe('NO_WALLET_FOR_ASSET')
    expect(await reasonsThatCreateShares('live', workspace.id)).toMatchObject({ eth_ethereum: 'addresses_exhausted' })
  })

  deepTest('network_lagging from 180 s behind on Ethereum until its scanner has caught up', async () => {
    const { engine } = api
    const ethereum = ['eth_ethereum', 'usdt_ethereum', 'usdc_ethereum']
    const lagging = async () =>
      Object.entries(await reasonsThatCreateShares('test')).filter(([, reason]) => reason === 'network_lagging')
    await engine.setCursor(100, engine.deps.clock.now())
    engine.advance(2 * MINUTE)
    await refresh()
    expect(await lagging()).toEqual([])
    engine.advance(MINUTE)
    await refresh()
    expect((await lagging()).map(([id]) => id)).toEqual(ethereum)
    await engine.setCursor(101, engine.deps.clock.now())
    await refresh()
    expect(await lagging()).toEqual([])
  })

  it('rates_unavailable once the last snapshot is 120 s old', async () => {
    api.engine.advance(2 * MINUTE)
    expect(new Set(Object.values(await reasonsThatCreateShares('test')))).toEqual(new Set(['rates_unavailable']))
    await refresh()
    expect(new Set(Object.values(await reasonsThatCreateShares('test')))).toEqual(new Set([null]))
  })
})

// Guarantee: a token without an official contract on the public testnet of a node is refused alone.
it('refuses on Sepolia what has no contract there, and shows the contract of what has', async () => {
  await api.close()
  api = await openApi(stores, { deps: (deps) => withLiveNode(deps, NODE) })
  await refresh()
  const reasons = await reasonsThatCreateShares('test')
  expect(Object.entries(reasons).filter(([, reason]) => reason !== null)).toEqual([
    ['usdt_ethereum', 'asset_not_on_network'],
  ])
  const currencies = await list(api.testKey)
  const contractOf = (asset: string) => currencies.find(({ id }) => id === asset)?.contract_address
  expect(contractOf('usdc_ethereum')).toBe('0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238')
  expect(contractOf('usdt_ethereum')).toBeNull()
})
