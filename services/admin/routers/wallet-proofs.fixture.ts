import { randomUUID } from 'node:crypto'
import { beforeEach } from 'vitest'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { OWNERSHIP_CHALLENGES, OWNERSHIP_PROOFS } from '#shared/db/wallets/ownership-models.ts'
import { ADDRESSES, KEY_MATERIAL, WALLETS } from '#shared/db/wallets/wallet-models.ts'
import { WORKSPACES } from '#shared/db/workspaces/workspace-model.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { type evmAccounts, proofOf, type Subject } from '#test/support/prove-control.ts'
import type { TestStores } from '#test/support/stores.ts'

const KEPT = [KEY_MATERIAL, WALLETS, ADDRESSES, OWNERSHIP_PROOFS, OWNERSHIP_CHALLENGES, MAILS, AUDIT_LOG]

export const op = () => ({ opId: randomUUID() })
export const pool = (accounts: readonly { address: string }[]): Subject => ({
  ...({ family: 'evm', kind: 'pool' } as const),
  value: accounts.map(({ address }) => address).join('\n'),
})
export const single = ([account]: readonly { address: string }[]): Subject => ({
  ...({ family: 'evm', kind: 'address' } as const),
  value: account?.address ?? '',
})
export const add = ({ caller, at }: AdminCaller, entered: Subject, proof?: Awaited<ReturnType<typeof proofOf>>) =>
  caller.wallets.add({ ...at, ...op(), ...entered, ...(proof !== undefined && { proof }) })
export const addProved = async (who: AdminCaller, entered: Subject, accounts: ReturnType<typeof evmAccounts>) =>
  await add(who, entered, await proofOf(who, entered, accounts))

/** The error as a caller sees it. */
export const refusal = async (call: Promise<unknown>) =>
  await call.then(
    () => 'accepted',
    ({ code, message, cause }: { code: string; message: string; cause: { details?: unknown } }) => ({
      ...{ code, message },
      details: cause.details,
    }),
  )

/**
 * Two unrelated shops on an installation that is empty before each test. Call it in a file that uses `useStores`:
 * it adds its own hook. Alice's shop exists; Bob's exists once `openBob` resolved.
 */
export function useTwoShops(stores: TestStores) {
  const shops: { alice?: AdminCaller; bob?: AdminCaller } = {}
  const there = (who: AdminCaller | undefined) => {
    if (who === undefined) throw new Error('this shop was not opened')
    return who
  }
  const shop = (name: string) => adminCaller(stores, { mode: 'live', email: `${name}@example.com` })
  beforeEach(async () => {
    for (const { name } of [WORKSPACES, ...KEPT]) await stores.db.connection.collection(name).deleteMany({})
    shops.alice = await shop('alice')
  })
  return {
    alice: () => there(shops.alice),
    bob: () => there(shops.bob),
    openBob: async () => {
      shops.bob = await shop('bob')
      return shops.bob
    },
    mails: async () =>
      (await stores.db.collection(MAILS).find().toArray()).map(({ template, to }) => `${template} ${to}`).toSorted(),
    stored: async () => {
      const count = (name: string) => stores.db.connection.collection(name).countDocuments()
      return await Promise.all(KEPT.map(({ name }) => count(name)))
    },
    offered: async ({ deps, workspaceId }: AdminCaller) => {
      const { wallets } = deps.instance
      const own = (await wallets.listWallets(workspaceId)).filter(({ disabledAt }) => disabledAt === null)
      const rows = await Promise.all(own.map(({ materialId }) => wallets.heldPage(materialId, null, 100)))
      return rows.flat().map(({ address }) => address)
    },
  }
}
