import { describe, expect, it } from 'vitest'
import { IDEMPOTENCY_LIFE_MS } from '#shared/db/requests/idempotency-model.ts'
import { createIdempotencyRepository } from '#shared/db/requests/idempotency-repository.ts'
import { DEFAULT_POLICY } from '#shared/usecases/workspaces/create-workspace.ts'
import { auditRow } from '#test/support/audit-parts.ts'
import { useStores } from '#test/support/stores.ts'
import { createApiKeyRepository } from './api-key-repository.ts'
import { createWorkspaceOperations } from './workspace-operations.ts'
import { createWorkspaceRepository } from './workspace-repository.ts'

const stores = useStores()
const uuid = () => stores.runtime.random.uuid()

describe('workspaces', () => {
  const workspace = () => ({
    id: uuid(),
    name: 'Shop',
    ownerEmail: 'owner@example.com',
    status: 'active' as const,
    limits: { invoicesPerMonth: null, paymentLinks: 10_000, webhookEndpoints: 100 },
    policy: DEFAULT_POLICY,
    epoch: 1,
    createdAt: 1_000,
  })

  // Guarantee: every change is seen, because each one raises the epoch.
  it('raise their epoch with each update, however many run at once', async () => {
    const repository = createWorkspaceRepository(stores.db)
    const created = workspace()
    await repository.insert(created, auditRow(uuid()))
    expect(await repository.findById(created.id)).toEqual(created)
    await Promise.all(Array.from({ length: 5 }, (_, nth) => repository.update(created.id, { name: `Shop ${nth}` })))
    expect(await repository.update(created.id, { status: 'suspended' })).toMatchObject({
      epoch: 7,
      status: 'suspended',
    })
    expect(await repository.update('unknown', { name: 'x' })).toBeNull()
    expect((await repository.list()).map((one) => one.id)).toContain(created.id)
  })
})

describe('API keys', () => {
  it('are found by digest and revoked once', async () => {
    const repository = createApiKeyRepository(stores.db)
    const key = {
      id: uuid(),
      workspaceId: uuid(),
      mode: 'test' as const,
      hash: uuid(),
      last4: 'abcd',
      scopes: ['invoices:read' as const],
      epoch: 1,
      createdAt: 1_000,
      revokedAt: null,
      createdBy: 'cli:test',
    }
    const { issueKey, revokeKey, findKey } = createWorkspaceOperations(stores.db)
    expect(await issueKey(key, auditRow(uuid()))).toBe(true)
    await expect(issueKey({ ...key, id: uuid() }, auditRow(uuid()))).rejects.toThrow(/E11000/)
    expect(await repository.findByHash(key.hash)).toEqual(key)
    expect(await repository.findByHash('unknown')).toBeNull()
    expect(await repository.findManyByHash([key.hash, 'unknown'])).toEqual([key])
    const revoke = (at: number) => revokeKey(key.id, at, auditRow(uuid()))
    expect((await Promise.all([revoke(5_000), revoke(6_000)])).sort()).toEqual([false, true])
    const revoked = await findKey(key.id)
    expect(revoked).toMatchObject({ epoch: 2, revokedAt: expect.any(Number) })
    expect(await revokeKey('unknown', 1, auditRow(uuid()))).toBe(false)
    expect(await repository.list(key.workspaceId)).toEqual([revoked])
  })
})

describe('idempotent operations', () => {
  const repository = () => createIdempotencyRepository(stores.db)
  const response = { status: 201, body: '{}' }

  // Guarantee: one of many equal requests runs; the others wait for it or get its answer.
  it('begin once, answer the same for ever, and refuse another body', async () => {
    const id = uuid()
    const begin = (fingerprint: string, at: number) => repository().begin(id, fingerprint, uuid(), at, 1_000)
    const tries = await Promise.all(Array.from({ length: 20 }, () => begin('f', 0)))
    expect(tries.filter((one) => one.outcome === 'begun')).toHaveLength(1)
    expect(tries.filter((one) => one.outcome === 'in_progress')).toHaveLength(19)
    expect(await begin('other', 0)).toEqual({ outcome: 'mismatch' })
    await repository().finish(id, 1, response)
    expect(await begin('f', 500)).toEqual({ outcome: 'done', response })
    expect(await repository().findMany([id, 'unknown'])).toMatchObject([{ id, response }])
    expect(await repository().find(id)).toMatchObject({ fingerprint: 'f', fencingToken: 1 })
  })

  // Guarantee: whoever lost the lease can neither store an answer nor forget the operation.
  it('are resumed with the same resource and a higher token after the lease', async () => {
    const id = uuid()
    const begun = await repository().begin(id, 'f', 'resource-1', 0, 1_000)
    expect(begun).toEqual({ outcome: 'begun', resourceId: 'resource-1', fencingToken: 1 })
    const resumed = await Promise.all([1, 2, 3].map(() => repository().begin(id, 'f', 'resource-2', 1_000, 1_000)))
    expect(resumed.filter((one) => one.outcome === 'resumed')).toEqual([
      { outcome: 'resumed', resourceId: 'resource-1', fencingToken: 2 },
    ])
    await repository().finish(id, 1, response)
    await repository().release(id, 1)
    expect(await repository().find(id)).toMatchObject({ response: null, fencingToken: 2 })
    await repository().release(id, 2)
    expect(await repository().find(id)).toBeNull()
  })

  it('start over after their life of 24 hours', async () => {
    const id = uuid()
    await repository().begin(id, 'f', 'resource-1', 0, 1_000)
    await repository().finish(id, 1, response)
    expect(await repository().begin(id, 'other', 'resource-2', IDEMPOTENCY_LIFE_MS, 1_000)).toEqual({
      outcome: 'begun',
      resourceId: 'resource-2',
      fencingToken: 2,
    })
  })
})
