import { afterEach, beforeEach, expect, vi } from 'vitest'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import type { ScanSource } from '#shared/usecases/scanning/scan-session.ts'
import type { ThriftyPace } from '#shared/usecases/scanning/thrifty-pace.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { useScanStage } from '#test/support/scan-stage.ts'
import type { TestStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'
import { startWorldNode, type WorldNode } from '#test/support/world-node.ts'
import { type Account, createPayers, type Payers } from './payers.ts'

const HOUR_MS = 3_600_000
/** How long a story waits for what must happen. */
export const PATIENCE = { timeout: 60_000, interval: 20 }
/** Blocks between the gas of an account and its invoice: more than a first start reads. */
const BEFORE = 20

/** A scan stage with payers of every kind and a provider between the chain and its scanners. */
export function useStoryStage(stores: TestStores) {
  const stage = useScanStage(stores)
  let payers: Payers
  let node: WorldNode
  let invoices = 0
  const clients: { close(): Promise<void> }[] = []
  beforeEach(async () => {
    payers = await createPayers(stage.chain)
    node = await startWorldNode(stage.chain.url)
  })
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close()
    await node.close()
  })

  function source(change: Partial<ScanSource> = {}): ScanSource {
    const networks = { live: {}, test: { ethereum: { rpcUrls: [node.url], chainId: 31_337 } } }
    const client = createChainClient(networks, 'test', 'ethereum', stores.runtime.metrics)
    if (client === null) throw new Error('no client')
    clients.push(client)
    return stage.source({ client, ...change })
  }

  return {
    stage,
    get payers() {
      return payers
    },
    get node() {
      return node
    },
    /** A watched account whose invoice waits for its money, or has ended. Its gas is older than everything that is read. */
    async open(status: 'pending' | 'expired', asset: 'usdt_ethereum' | 'eth_ethereum'): Promise<Account> {
      const account = await payers.open('key')
      await stage.chain.mine(BEFORE)
      invoices += 1
      const id = `test:evm:story${invoices}`
      const { address, matchKey } = account
      const row = { mode: 'test', family: 'evm', materialId: id, watchedOn: [] } as const
      await stage.deps.wallets.addDerived(id, [{ index: 900 + invoices, address, matchKey, ...row }], 1)
      const at = Date.now() - (status === 'pending' ? 1_000 : HOUR_MS)
      const coin = asset === 'eth_ethereum' ? ({ symbol: 'ETH', decimals: 18, coin: true } as const) : {}
      const method = { ...samplePaymentMethod(matchKey, at, { asset, ...coin }), address, claim: id }
      const expiresAt = at + (status === 'pending' ? 30 * 24 * HOUR_MS : HOUR_MS / 2)
      const nextActionAt = status === 'pending' ? expiresAt : null
      const state = { paymentMethods: [method], status, expiresAt, nextActionAt }
      const invoice = sampleInvoice(stores.runtime.random, { at, number: invoices, state })
      await createInvoiceRepository(stores.db).insert(invoice)
      return account
    },
    /** Reads every block. */
    readBlocks: (change: Partial<ScanSource> = {}) => stage.scan(source(change)),
    /** Reads what invoices need. */
    attend: (pace: Partial<ThriftyPace> = {}, change: Partial<ScanSource> = {}) =>
      stage.scan(source({ finalityDepth: 3, ...change, thrifty: briskPace(pace) })),
    /** Until the scanner stands at the newest block. */
    untilHead: async () => {
      const head = await stage.height()
      await vi.waitFor(async () => expect((await stage.cursor())?.height).toBeGreaterThanOrEqual(head), PATIENCE)
    },
    /** Calls that the provider got. */
    calls: () => [...node.calls.values()].reduce((sum, count) => sum + count, 0),
    /** Amounts of payments that count, in the order of their blocks; without the coins from nowhere that pay for gas. */
    amounts: async () =>
      (await stage.payments())
        .filter(({ state, key }) => (state === 'detected' || state === 'confirmed') && !key.includes(':d:'))
        .toSorted((one, other) => (one.height ?? 0) - (other.height ?? 0))
        .map(({ amount }) => BigInt(amount)),
  }
}
