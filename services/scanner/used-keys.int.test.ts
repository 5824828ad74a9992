import { randomBytes } from 'node:crypto'
import { HDKey } from '@scure/bip32'
import { HDNodeWallet } from 'ethers'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type LitecoinNode, startLitecoinNode } from '#dev/local-chain/litecoin-node.ts'
import { type LocalChain, startLocalChain } from '#dev/local-chain/start-local-chain.ts'
import { startTronNode, type TronNode } from '#dev/local-chain/tron-node/start-tron-node.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { KEY_MATERIAL } from '#shared/db/wallets/wallet-models.ts'
import type { Family } from '#shared/domain/enumerations.ts'
import type { AddWalletInput } from '#shared/usecases/wallets/add-wallet.ts'
import { deriveAhead } from '#shared/usecases/wallets/address-headroom.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import { deepTest } from '#test/support/depth.ts'
import { type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { serviceContext } from '#test/support/service-context.ts'
import { useStores } from '#test/support/stores.ts'
import { start } from './main.ts'

const stores = useStores()
const PATIENCE = { timeout: 60_000, interval: 100 }
/** Version bytes of vpub (SLIP-132): native SegWit of a test network. */
const VPUB = { public: 0x045f1cf6, private: 0x045f18bc }

let litecoin: LitecoinNode
let ethereum: LocalChain
let tron: TronNode
let engine: Engine
let stop: (() => Promise<void>) | null = null
beforeAll(async () => {
  litecoin = await startLitecoinNode({ blockTimeMs: null })
  ethereum = await startLocalChain({ blockTimeMs: null })
  tron = await startTronNode({ blockTimeMs: null, solidLag: 1 })
})
afterAll(async () => {
  await Promise.all([litecoin.stop(), ethereum.stop(), tron.stop()])
})
beforeEach(async () => {
  engine = await openEngine(stores, {
    ethereum: { rpcUrls: [ethereum.url], chainId: ethereum.chainId, confirmations: 1, contracts: {} },
    litecoin: { rpcUrls: [litecoin.url], genesis: 'any', confirmations: 1 },
    tron: { rpcUrls: [tron.url], genesis: 'any' },
  })
})
afterEach(async () => {
  await stop?.()
  stop = null
})

/** Runs the real scanner process on these nodes. */
async function scanner(): Promise<void> {
  const local = { rpcUrls: [ethereum.url], chainId: ethereum.chainId, confirmations: 1 }
  const networks = {
    ethereum: local,
    litecoin: { rpcUrls: [litecoin.url], genesis: 'any', confirmations: 1 },
    tron: { rpcUrls: [tron.url], genesis: 'any' },
  }
  const env = { PAYMESH_ENV: 'development', PAYMESH_NETWORKS: JSON.stringify({ test: networks }) }
  stop = await start(serviceContext(stores, env))
}

const deps = () => ({ ...engine.deps, addressBook: engine.addressBook, secretBox: engine.secretBox })
async function add(family: Family, value: string) {
  const input: AddWalletInput = { workspaceId: engine.workspace.id, mode: 'test', family, kind: 'xpub', value }
  return (await addWallet(deps(), input)).wallet.materialId
}

/** Derives as `invoices` does until the search has ended; resolves with what it found. */
const searched = (materialId: string) =>
  vi.waitFor(async () => {
    await deriveAhead(deps(), 24)
    const material = await stores.db.collection(KEY_MATERIAL).findOne({ _id: materialId })
    expect(material?.history?.state).toBe('known')
    return material?.history
  }, PATIENCE)

function litecoinKey() {
  const account = HDKey.fromMasterSeed(randomBytes(64), VPUB).derive("m/84'/1'/0'")
  const { xpub } = engine.addressBook.normalise('litecoin', 'test', account.publicExtendedKey)
  const rows = engine.addressBook.derive('litecoin', 'test', xpub, 0, 40)
  return { vpub: account.publicExtendedKey, script: (index: number) => rows[index]?.matchKey ?? '' }
}

// Guarantee: a payer who pays an old address never settles a stranger's invoice.
it('goes on behind what litecoind shows of a key, and old addresses settle nothing', { timeout: 180_000 }, async () => {
  const { vpub, script } = litecoinKey()
  await litecoin.pay([0, 1, 2, 3, 4, 5, 6, 7, 12].map((index) => ({ to: script(index), amountBase: 100_000n })))
  await litecoin.mine(1)
  const id = await add('litecoin', vpub)
  await expect(engine.open({ asset: 'ltc_litecoin' })).rejects.toMatchObject({ code: 'NO_WALLET_FOR_ASSET' })
  await scanner()
  expect(await searched(id)).toMatchObject({ lastUsedIndex: 12, startIndex: 13, searched: ['litecoin'] })

  await litecoin.mine(1)
  const invoice = await vi.waitFor(() => engine.open({ asset: 'ltc_litecoin' }), PATIENCE)
  expect(paymentMethodOf(invoice).matchKey).toBe(script(13))
  await litecoin.pay([{ to: script(3), amountBase: paymentMethodOf(invoice).quotes[0]?.amountBase ?? 0n }])
  await litecoin.mine(2)
  await vi.waitFor(async () => {
    const payment = await stores.db.collection(PAYMENTS).findOne({ matchKey: script(3) })
    expect(payment).toMatchObject({ invoiceId: null, state: 'confirmed' })
    const open = await stores.db.collection(EXCEPTIONS).findOne({ kind: 'unmatched', workspaceId: engine.workspace.id })
    expect(open).not.toBeNull()
  }, PATIENCE)
  expect((await engine.deps.invoices.findById(invoice.terms.id))?.state.status).toBe('pending')
})

it('sees coins, tokens and transactions of an account on anvil', { timeout: 180_000 }, async () => {
  const key = HDNodeWallet.fromSeed(randomBytes(64)).derivePath("m/44'/60'/0'")
  const address = (index: number) => key.deriveChild(0).deriveChild(index).address
  await ethereum.pay({ asset: 'eth_ethereum', to: address(0), amountBase: 1n })
  await ethereum.mine()
  await ethereum.pay({ asset: 'usdt_ethereum', to: address(3), amountBase: 5n })
  await ethereum.mine()
  const id = await add('evm', key.neuter().extendedKey)
  await scanner()
  expect(await searched(id)).toMatchObject({ lastUsedIndex: 3, startIndex: 4, searched: ['ethereum'] })

  // An account that sent everything away again has its nonce left.
  const emptied = HDNodeWallet.fromSeed(randomBytes(64)).derivePath("m/44'/60'/0'")
  const spent = emptied.deriveChild(0).deriveChild(9).address
  await ethereum.rpc('anvil_setNonce', [spent, '0x1'])
  const other = await add('evm', emptied.neuter().extendedKey)
  expect(await searched(other)).toMatchObject({ lastUsedIndex: 9, startIndex: 10 })
})

deepTest('sees accounts and tokens on TRON', { timeout: 180_000 }, async () => {
  const key = HDNodeWallet.fromSeed(randomBytes(64)).derivePath("m/44'/195'/0'")
  const xpub = key.neuter().extendedKey
  const rows = engine.addressBook.derive('tron', 'test', engine.addressBook.normalise('tron', 'test', xpub).xpub, 0, 8)
  await tron.pay({ asset: 'trx_tron', to: rows[2]?.address ?? '', amountBase: 5n })
  await tron.pay({ asset: 'usdt_tron', to: rows[6]?.address ?? '', amountBase: 5n })
  tron.mine(3)
  const id = await add('tron', xpub)
  await scanner()
  expect(await searched(id)).toMatchObject({ lastUsedIndex: 6, startIndex: 7, searched: ['tron'] })
})

// Guarantee: a node that is away holds a key back, and the search goes on when it answers again.
deepTest('waits for a node that is away', { timeout: 180_000 }, async () => {
  const key = HDNodeWallet.fromSeed(randomBytes(64)).derivePath("m/44'/60'/0'")
  const away = await startLocalChain({ blockTimeMs: null })
  const { port } = away
  await away.stop()
  const id = await add('evm', key.neuter().extendedKey)
  const context = serviceContext(stores, {
    PAYMESH_ENV: 'development',
    PAYMESH_NETWORKS: JSON.stringify({
      test: { ethereum: { rpcUrls: [`http://127.0.0.1:${port}`], chainId: 31_337 } },
    }),
  })
  const failed = vi.fn()
  const metrics = { ...stores.runtime.metrics, count: failed }
  stop = await start({ ...context, metrics })
  await deriveAhead(deps(), 24)
  const rows = await engine.deps.wallets.unmarkedWatches('test', 'evm', 'ethereum', 10_000)
  await engine.deps.wallets.markWatched(
    'test',
    'evm',
    'ethereum',
    rows.map(({ matchKey }) => matchKey),
  )
  await vi.waitFor(
    () => expect(failed.mock.calls.map(([name]) => name)).toContain('key_history_failed_total'),
    PATIENCE,
  )
  const stored = await stores.db.collection(KEY_MATERIAL).findOne({ _id: id })
  expect(stored?.history).toMatchObject({ state: 'searching', waitingFor: ['ethereum'] })
  const back = await startLocalChain({ blockTimeMs: null, port })
  try {
    expect(await searched(id)).toMatchObject({ lastUsedIndex: null, startIndex: 0 })
  } finally {
    await back.stop()
  }
})
