import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRefundRepository } from '#shared/db/refunds/refund-repository.ts'
import { openRefund } from '#test/support/open-refund.ts'
import { useStores } from '#test/support/stores.ts'
import { type CheckoutStage, makePages, openCheckout } from './checkout.fixture.ts'

const stores = useStores()
const ADDRESS = '0x8282Ec02E4038c9F6789c1E7c2eCdc172Be26fDE'
let stage: CheckoutStage
let token: string
let refundId: string
let invoiceId: string
beforeAll(async () => {
  stage = await openCheckout(stores, { pagesDir: makePages() })
  ;({ token, id: refundId, invoiceId } = await openRefund(stores, stage.engine))
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
    status: 'requested',
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

const SENT: Readonly<Record<string, string>> = {
  en: 'Shop sent a refund of 1.41 USDT on Ethereum, ',
  es: 'Shop envió un reembolso de 1.41 USDT por Ethereum, ',
  pt: 'Shop enviou um reembolso de 1.41 USDT pela rede Ethereum, ',
}

// Guarantee: a payer sees what was sent back as soon as the merchant records it: on the open page, and on every one that is opened later.
it('shows a recorded refund to the payer, on an open page too', async () => {
  const txHash = `0x${'5e'.repeat(32)}`
  const line = await fetch(`${stage.url}/api/i/${invoiceId}/live`)
  const reader = line.body?.pipeThrough(new TextDecoderStream()).getReader()
  let seen = ''
  const read = async (text: string) => {
    while (!seen.includes(text)) seen += (await reader?.read())?.value ?? ''
  }
  await read('"refunds":[]')
  const at = stage.engine.deps.clock.now()
  const audit = {
    at,
    actor: 'user:owner@example.com',
    action: 'refund.sent',
    subject: invoiceId,
    mode: 'test',
  } as const
  const sent = { txHash, at, by: 'user:owner@example.com', market: null }
  await createRefundRepository(stores.db).noteSent(refundId, sent, {
    ...{ ...audit, id: `refund.sent:${refundId}`, workspaceId: stage.engine.workspace.id, detail: {} },
  })
  await read(txHash)
  await reader?.cancel()
  const { view } = (await stage.get(`/api/i/${invoiceId}`)).body
  expect(view.books.refunds).toMatchObject([{ amount: '1.41', symbol: 'USDT', network: 'ethereum', txHash, at }])
  for (const [language, text] of Object.entries(SENT)) {
    for (const page of ['', '/receipt']) {
      const { body } = await stage.get(`/i/${invoiceId}${page}/plain?lang=${language}`)
      expect(body).toContain(text)
      expect(body).toContain(txHash)
    }
  }
})
