import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPaymentLinkRepository } from '#shared/db/payment-links/payment-link-repository.ts'
import { type PayLinkDeps, payLink } from '#shared/usecases/payment-links/pay-link.ts'
import { useStores } from '#test/support/stores.ts'
import { type CheckoutStage, openCheckout } from './checkout.fixture.ts'

const stores = useStores()
let stage: CheckoutStage
beforeAll(async () => {
  stage = await openCheckout(stores)
})
afterAll(() => stage.close())

const links = () => createPaymentLinkRepository(stores.db)

/** Pays a link for 7 USD which somebody changes while the payer waits for a turn. */
async function payAfter(change: (linkId: string) => Promise<unknown>) {
  const linkId = await stage.link({ kind: 'fixed', minor: 700n })
  const linkQuota: PayLinkDeps['linkQuota'] = {
    within: async (_workspace, _mode, create) => {
      await change(linkId)
      return await create()
    },
  }
  const request = {
    linkId,
    actionId: randomUUID(),
    requestId: 'req_1',
    visitor: { source: '192.0.2.1' },
    admit: async () => undefined,
  }
  return payLink({ ...stage.deps, linkQuota }, request as Parameters<typeof payLink>[1])
}

// Guarantee: no invoice is made at a price, or from a link, that the merchant took back while the payer waited.
it('refuses a link that was re-priced or deactivated while the payer waited for a turn', async () => {
  const { id: workspaceId } = stage.engine.workspace
  const reprice = async (id: string) => {
    const link = await links().findById(id)
    const seen = { workspaceId, mode: 'test', id, version: link?.updatedAt ?? 0 } as const
    const terms = { title: 'Workshop', description: null, usesMax: null, expiresAt: null } as const
    const at = (link?.updatedAt ?? 0) + 1
    const about = { subject: id, workspaceId, mode: 'test', detail: {} } as const
    const audit = {
      id: randomUUID(),
      at,
      actor: 'user:ana@example.com',
      action: 'payment_link.updated' as const,
      ...about,
    }
    expect(await links().update(seen, { ...terms, amount: { kind: 'fixed', minor: 900n } }, at, audit)).toBe(true)
  }
  await expect(payAfter(reprice)).rejects.toThrow('This payment link was just changed.')
  const deactivate = (id: string) => links().deactivate(workspaceId, 'test', id, stage.engine.deps.clock.now())
  await expect(payAfter(deactivate)).rejects.toThrow('This payment link is no longer active.')
  expect(await payAfter(async () => undefined)).toMatchObject({ status: 'new' })
})
