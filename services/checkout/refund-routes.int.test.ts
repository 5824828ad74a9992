import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRefundRepository } from '#shared/db/refunds/refund-repository.ts'
import { createRefundLinks, refundTokenHash } from '#shared/usecases/refunds/refund-link.ts'
import { useStores } from '#test/support/stores.ts'
import { type CheckoutStage, openCheckout } from './checkout.fixture.ts'

const stores = useStores()
const ADDRESS = '0x8282Ec02E4038c9F6789c1E7c2eCdc172Be26fDE'
let stage: CheckoutStage
let token: string
beforeAll(async () => {
  stage = await openCheckout(stores)
  const { engine } = stage
  const invoice = await engine.open({ asset: 'usdt_ethereum' })
  const id = stores.runtime.random.uuid()
  token = createRefundLinks(new Uint8Array(32).fill(7)).tokenOf(id)
  const now = engine.deps.clock.now()
  const refund = {
    id,
    workspaceId: engine.workspace.id,
    mode: 'test',
    invoiceId: invoice.terms.id,
    asset: 'usdt_ethereum',
    network: 'ethereum',
    amountBase: 1_410_000n,
    status: 'asked',
    tokenHash: refundTokenHash(token) ?? '',
    expiresAt: now + 86_400_000,
    address: null,
    addressedAt: null,
    txHash: null,
    sentAt: null,
    market: null,
    askedBy: 'user:owner@example.com',
    sentBy: null,
    createdAt: now,
  } as const
  await createRefundRepository(stores.db).open(
    refund,
    {
      id: `refund:${id}`,
      at: now,
      actor: 'user:owner@example.com',
      action: 'refund.asked',
      subject: invoice.terms.id,
      workspaceId: engine.workspace.id,
      mode: 'test',
      detail: {},
    },
    async () => [],
  )
})
afterAll(() => stage.close())

/** Guarantee: an address is given once; whoever has the link later can neither change it nor learn more than it shows. */
it('shows what is given back, and takes one address', async () => {
  const { body } = await stage.get(`/api/r/${token}`)
  expect(body.refund).toEqual({
    merchant: 'Shop',
    shop: { name: 'Shop', logo: null, colour: null, contact: null },
    mode: 'test',
    invoiceNumber: 1,
    symbol: 'USDT',
    network: 'ethereum',
    amount: '1.41',
    status: 'asked',
    address: null,
    txHash: null,
    expiresAt: expect.any(Number),
  })
  const give = (address: string) => stage.post(`/api/r/${token}`, { address }, `203.0.113.${address.length}`)
  expect((await give('not an address')).body.error).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ path: 'address' }],
  })
  expect((await give(ADDRESS)).body.refund).toMatchObject({ status: 'addressed', address: ADDRESS })
  expect((await give(ADDRESS)).status).toBe(200)
  const other = await give('0x52908400098527886E0F7030069857D2E4169EE7')
  expect([other.status, other.body.error.code]).toEqual([409, 'INVALID_STATE'])
})

it('knows other tokens as nothing', async () => {
  for (const wrong of ['x', 'A'.repeat(43), `${token}A`]) expect((await stage.get(`/api/r/${wrong}`)).status).toBe(404)
})
