import { expect, it } from 'vitest'
import type { AdminDeps } from '#services/admin/assemble.ts'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoints/endpoint-model.ts'
import { adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const ENDPOINT = { url: 'https://hooks.example.com/paymesh', events: ['invoice.paid' as const], mode: 'test' as const }

/** An admin who stores an endpoint; while its address is looked up, an owner does this with the admin's membership. */
async function overtakenBy(to: 'viewer' | null) {
  const owner = await adminCaller(stores, { stored: true, email: `owner-${to}@example.com` })
  const { workspaceId } = owner
  const change = async (userId: string): Promise<void> => {
    const op = { opId: owner.deps.random.uuid(), userId, from: 'admin' as const }
    if (to === null) await owner.caller.members.remove({ ...owner.at, ...op })
    else await owner.caller.members.setRole({ ...owner.at, ...op, to })
  }
  let meanwhile = async (): Promise<void> => undefined
  const check = async () => {
    await meanwhile()
    return { ok: true } as const
  }
  const deps = ({ instance }: AdminDeps) => ({ instance: { ...instance, urlGuard: { check } } }) as never
  const admin = await adminCaller(stores, {
    role: 'admin',
    stored: true,
    email: `admin-${to}@example.com`,
    workspaceId,
    deps,
  })
  const create = () =>
    admin.caller.endpoints.create({ ...admin.at, opId: admin.deps.random.uuid(), endpoint: ENDPOINT })
  const stored = () => stores.db.collection(WEBHOOK_ENDPOINTS).countDocuments({ workspaceId })
  await create()
  meanwhile = () => change(admin.session.userId)
  return { create, stored, workspaceId }
}

// Guarantee: what a member was allowed to do when a request began is not stored once an owner took that away, however long the request waited.
it.each([null, 'viewer'] as const)(
  'an endpoint of an admin who became %s while its address was looked up is not stored',
  async (to) => {
    const { create, stored, workspaceId } = await overtakenBy(to)
    await expect(create()).rejects.toThrow('Your role in this workspace changed.')
    expect(await stored()).toBe(1)
    expect(await stores.db.collection(AUDIT_LOG).countDocuments({ workspaceId, action: 'endpoint.created' })).toBe(1)
  },
)
