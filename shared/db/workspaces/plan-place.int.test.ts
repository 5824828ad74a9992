import { expect, it } from 'vitest'
import { createEndpointOperations } from '#shared/db/deliveries/endpoint-repository.ts'
import { WEBHOOK_ENDPOINTS, type WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import { PAYMENT_LINKS } from '#shared/db/payment-links/payment-link-model.ts'
import { createPaymentLinkRepository } from '#shared/db/payment-links/payment-link-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { PaymentLink } from '#shared/ports/payment-links.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const ONES = [0, 1, 2, 3, 4, 5]

// Guarantee: requests at the same moment, in however many processes, add no more than the plan allows.
it('adds what the plan allows of endpoints and links that are created at once', async () => {
  const workspaces = createWorkspaceRepository(stores.db)
  const made = await createWorkspace({ ...stores.runtime, workspaces } as never, {
    name: 'Shop',
    ownerEmail: 'o@example.com',
    actor: 'test',
  })
  const workspaceId = made.id
  const audit = (id: string) => ({
    ...{
      id,
      at: 1,
      actor: 'test',
      action: 'golive.master_key_stated' as const,
      subject: id,
      workspaceId,
      mode: 'test' as const,
      detail: {},
    },
  })
  const dates = { createdAt: 1, updatedAt: 1 }
  const endpointOf = (one: number): WebhookEndpoint => ({
    ...{ id: `w-${one}`, workspaceId, url: 'https://example.com', events: [], mode: 'test', description: null },
    ...{ status: 'enabled', sealedSecrets: ['s'], formerSecrets: [], inFlightMax: null, opId: `op-${one}`, ...dates },
  })
  const linkOf = (one: number): PaymentLink => ({
    ...{ id: `l-${one}`, workspaceId, mode: 'test', status: 'active', title: 'x', description: null, currency: 'USD' },
    ...{
      amount: { kind: 'fixed', minor: 5n },
      productId: null,
      usesMax: null,
      expiresAt: null,
      deactivatedAt: null,
      ...dates,
    },
  })
  const operations = createEndpointOperations(stores.db)
  const links = createPaymentLinkRepository(stores.db)
  const results = await Promise.allSettled([
    ...ONES.map((one) => operations.insert(endpointOf(one), audit(`e-${one}`), 2)),
    ...ONES.map((one) => links.insert(linkOf(one), audit(`k-${one}`), 2)),
  ])
  const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
  expect(refusals).toEqual(Array.from({ length: 8 }, () => 'PLAN_LIMIT_REACHED'))
  expect(await stores.db.collection(WEBHOOK_ENDPOINTS).countDocuments({ workspaceId })).toBe(2)
  expect(await stores.db.collection(PAYMENT_LINKS).countDocuments({ workspaceId })).toBe(2)
  // A repetition of a request that took the last place is no further one.
  const stored = await stores.db.collection(PAYMENT_LINKS).findOne({ workspaceId })
  const again = Number(stored?._id.slice(2))
  expect(await links.insert(linkOf(again), audit('again'), 2)).toMatchObject({ id: `l-${again}` })
  expect(await workspaces.findById(workspaceId)).toEqual(made)
})
