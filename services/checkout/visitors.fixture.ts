import { randomUUID } from 'node:crypto'
import { HDNodeWallet } from 'ethers'
import { afterEach, beforeEach } from 'vitest'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { createInvoice } from '#shared/usecases/invoices/create-invoice.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import type { TestStores } from '#test/support/stores.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'
import { type CheckoutStage, openCheckout } from './checkout.fixture.ts'

const account = HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', "m/44'/60'/0'/3")
const addressAt = (index: number) => account.deriveChild(index).address
/** Documentation networks of IPv4 (RFC 5737) and one /64 of IPv6 for each further index. */
export const sourceAt = (index: number) => (index < 200 ? `203.0.113.${index}` : `2001:db8:0:${index.toString(16)}::1`)

/** A separate checkout for each test, and the visitors of its links. Call it in a file that uses `useStores`: it adds its own hooks. */
export function useVisitors(stores: TestStores, options: Parameters<typeof openCheckout>[1] = {}) {
  let stage: CheckoutStage
  beforeEach(async () => {
    stage = await openCheckout(stores, options)
  })
  afterEach(async () => {
    await stage.close()
    for (const name of ['wallets', 'invoices', 'addresses', 'payments', 'exceptions', 'key_material', 'workspaces']) {
      await stores.db.connection.collection(name).deleteMany({})
    }
  })

  /** A pool of test addresses that the scanner of test Ethereum watches. */
  async function addPool(count: number): Promise<void> {
    const { engine } = stage
    const value = Array.from({ length: count }, (_, index) => addressAt(index))
    const input = { workspaceId: engine.workspace.id, mode: 'test', family: 'evm', kind: 'pool' } as const
    await addWallet({ ...engine.deps, ...engine }, { ...input, value: value.join('\n') })
    const keys = value.map((address) => address.slice(2).toLowerCase())
    await engine.deps.wallets.markWatched('test', 'evm', 'ethereum', keys)
  }

  const visit = async (link: string, from: string) =>
    await stage.post(`/api/l/${link}/invoice`, { actionId: randomUUID() }, from)
  const choose = async (id: string, asset: AssetId, from: string) =>
    await stage.post(`/api/i/${id}/asset`, { asset, actionId: randomUUID() }, from)
  /** An invoice created through the API, in a separate process. */
  const openByApi = async (asset?: AssetId) => await stage.engine.open(asset === undefined ? {} : { asset })

  /** Invoices of link visitors, created without the limits of the checkout's routes: any number of strangers. */
  async function linkInvoices(count: number, link: string): Promise<string[]> {
    const { deps, engine } = stage
    const made = Array.from({ length: count }, async () => {
      const body = { amount: '7.00', minor: 700n, currency: 'USD' as const, description: 'x' }
      const about = { workspace: engine.workspace, mode: 'test', body, source: 'link', idempotency: null } as const
      const result = await createInvoice(deps, { ...about, link: { id: link, productId: null } })
      return result.outcome === 'created' ? result.terms.id : ''
    })
    return await Promise.all(made)
  }
  return { stage: () => stage, addPool, visit, choose, openByApi, linkInvoices }
}
