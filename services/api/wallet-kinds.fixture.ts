import { HDNodeWallet } from 'ethers'
import { afterEach, beforeEach } from 'vitest'
import { applyInvoiceEvent } from '#shared/usecases/invoices/apply-invoice-event.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import type { AddWalletInput } from '#shared/usecases/wallets/add-wallet.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { blockWith } from '#test/support/engine.ts'
import type { TestStores } from '#test/support/stores.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'

const account = HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', "m/44'/60'/0'/1")
export const addressAt = (index: number) => account.deriveChild(index).address
export const keyOf = (address: string) => address.slice(2).toLowerCase()

/** Amount and address of an invoice with an asset. */
export interface CreatedInvoice {
  readonly id: string
  readonly address: string
  readonly amountBase: bigint
  readonly uri: string
}

/** A separate API for each test, with wallets, invoices and payments of test Ethereum. Call it in a file that uses `useStores`: it adds its own hooks. */
export function useWalletApi(stores: TestStores) {
  let api: TestApi
  const chain = { height: 100 }
  beforeEach(async () => {
    api = await openApi(stores)
  })
  afterEach(async () => {
    await api.close()
    for (const name of ['wallets', 'invoices', 'addresses', 'payments', 'exceptions', 'mails', 'key_material']) {
      await stores.db.connection.collection(name).deleteMany({})
    }
  })
  /** Adds a wallet of listed addresses that the scanner of test Ethereum watches already. */
  async function add(value: readonly string[], change: Partial<AddWalletInput> = {}) {
    const { engine } = api
    const input = { workspaceId: engine.workspace.id, mode: 'test', family: 'evm', kind: 'pool', ...change } as const
    const added = await addWallet({ ...engine.deps, ...engine }, { ...input, value: value.join('\n') })
    await engine.deps.wallets.markWatched('test', 'evm', 'ethereum', value.map(keyOf))
    return added
  }

  async function create(key: string, asset = 'usdt_ethereum'): Promise<CreatedInvoice | string> {
    const body = { amount: '25.00', currency: 'USD', asset }
    const { status, json } = await api.call('POST', '/invoices', { key, body })
    if (status !== 201) return String(json.error.code)
    const { address, amount_base_units: base, uri } = json.data.crypto
    return { id: json.data.id, address, amountBase: BigInt(base), uri }
  }

  async function created(key = api.testKey, asset?: string): Promise<CreatedInvoice> {
    const answer = await create(key, asset)
    if (typeof answer === 'string') throw new Error(answer)
    return answer
  }

  async function pay(to: { readonly address: string }, amountBase: bigint, time = api.engine.deps.clock.now()) {
    chain.height += 1
    const row = { matchKey: keyOf(to.address), address: to.address }
    const blocks = [blockWith(chain.height, time, row, [{ key: `test:ethereum:${chain.height}`, amountBase }])]
    await recordBlockTransfers(api.engine.deps, { mode: 'test', network: 'ethereum', epoch: 1, blocks })
  }

  async function paidOf(id: string): Promise<bigint> {
    await applyInvoiceEvent(api.engine.deps, { invoiceId: id, event: { type: 'payments_changed' }, opId: null })
    const { json } = await api.call('GET', `/invoices/${id}`)
    return BigInt(json.data.received.amount_base_units)
  }

  const unmatchedTransfers = async () =>
    (await stores.db.connection.collection('exceptions').find({ kind: 'unmatched' }).toArray()).map((row) =>
      String(row['workspaceId']),
    )
  return { api: () => api, chain, add, create, created, pay, paidOf, unmatchedTransfers }
}
