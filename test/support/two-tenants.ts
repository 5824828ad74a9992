import { randomUUID } from 'node:crypto'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { OWNERSHIP_CHALLENGES, OWNERSHIP_PROOFS } from '#shared/db/wallets/ownership-models.ts'
import { ADDRESSES, KEY_MATERIAL, WALLETS } from '#shared/db/wallets/wallet-models.ts'
import { WORKSPACES } from '#shared/db/workspaces/workspace-model.ts'
import { confirmPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { type AdminCaller, adminCaller } from './admin.ts'
import { blockWith, type Engine, openEngine } from './engine.ts'
import { type evmAccounts, proofOf, type Subject } from './prove-control.ts'
import type { TestStores } from './stores.ts'

const NODE = { rpcUrls: ['http://127.0.0.1:1'], chainId: 31337, confirmations: 3 }
const ENV = { PAYMESH_NETWORKS: JSON.stringify({ live: { ethereum: NODE }, test: { ethereum: NODE } }) }
const SCOPE = { mode: 'live', network: 'ethereum', epoch: 1 } as const
const TENANTS = [
  KEY_MATERIAL,
  WALLETS,
  ADDRESSES,
  OWNERSHIP_PROOFS,
  OWNERSHIP_CHALLENGES,
  INVOICES,
  PAYMENTS,
  EXCEPTIONS,
]

/** Live shops on one installation, with their scanner's writes and what their payers are shown. Call `open` in a hook of a file that uses `useStores`, and `empty` before each test. */
export function twoTenants(stores: TestStores) {
  let engine: Engine
  let height = 1_000
  const count = (name: string) => stores.db.connection.collection(name).countDocuments()
  return {
    open: async () => {
      engine = await openEngine(stores)
    },
    empty: async () => {
      for (const { name } of [WORKSPACES, AUDIT_LOG, MAILS, ...TENANTS])
        await stores.db.connection.collection(name).deleteMany({})
    },
    shop: (name: string) => adminCaller(stores, { mode: 'live', email: `${name}@example.com`, env: ENV }),
    /** Adds a wallet, with a proof when accounts are given, and has its addresses watched. */
    add: async (who: AdminCaller, entered: Subject, accounts: ReturnType<typeof evmAccounts> = []) => {
      const proof = accounts.length === 0 ? {} : { proof: await proofOf(who, entered, accounts) }
      const added = await who.caller.wallets.add({ ...who.at, opId: randomUUID(), ...entered, ...proof })
      const rows = await engine.deps.wallets.unmarkedWatches('live', 'evm', 'ethereum', 1_000)
      const keys = rows.map(({ matchKey }) => matchKey)
      await engine.deps.wallets.markWatched('live', 'evm', 'ethereum', keys)
      return added
    },
    /** An invoice in ether, with the address that its payer is shown; null when the shop cannot receive. */
    invoice: async ({ caller, at, deps }: AdminCaller) => {
      const wanted = { amount: '20', currency: 'USD', asset: 'eth_ethereum' } as const
      const made = await caller.invoices.create({ ...at, opId: randomUUID(), invoice: wanted }).catch(refused)
      if (made === null) return null
      const stored = await deps.instance.invoices.findById(made.id)
      const paymentMethod = stored?.state.paymentMethods[0]
      if (paymentMethod === undefined) throw new Error('an invoice without an address')
      return {
        id: made.id,
        address: paymentMethod.address,
        matchKey: paymentMethod.matchKey,
        due: paymentMethod.quotes[0]?.amountBase ?? 0n,
      }
    },
    /** A confirmed transfer of ether, as a scanner stores it. */
    pay: async (address: string, amountBase: bigint, at = engine.deps.clock.now()) => {
      height += 10
      const key = `live:ethereum:${randomUUID()}`
      const to = { address, matchKey: address.slice(2).toLowerCase() }
      const block = blockWith(height, at, to, [{ key, amountBase, asset: 'eth_ethereum' }])
      await recordBlockTransfers(engine.deps, { ...SCOPE, blocks: [block] })
      await confirmPayments(engine.deps, { ...SCOPE, height: height + 99, finalizedHeight: height + 99 })
      const [payment] = await engine.deps.payments.findByKeys([key])
      if (payment === undefined) throw new Error('no payment was stored')
      return payment
    },
    /** Everything that tenants own, as it is stored. */
    state: async () =>
      JSON.stringify(
        await Promise.all(
          TENANTS.filter(({ name }) => name !== OWNERSHIP_CHALLENGES.name).map(({ name }) =>
            stores.db.connection.collection(name).find().sort({ _id: 1 }).toArray(),
          ),
        ),
        (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
      ),
    count,
    engine: () => engine,
  }
}

function refused(error: { readonly cause?: { readonly code?: string } }): null {
  if (error.cause?.code === 'NO_WALLET_FOR_ASSET') return null
  throw error
}
