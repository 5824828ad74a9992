import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import { expect, it, vi } from 'vitest'
import type { Invoice } from '#clients/typescript/src/types.ts'
import { createWebhookHandler, type WebhookHandler } from '#clients/typescript/src/webhook-handler.ts'
import { simulatedInvoice } from '#shared/contracts/openapi/examples/invoice.ts'

const SECRET = 'whsec_example'

function signed(type: string, object: object = simulatedInvoice): { body: string; signature: string } {
  const body = JSON.stringify({ id: 'evt_1', object: 'event', type, data: { object } })
  const t = Math.floor(Date.now() / 1_000)
  return { body, signature: `t=${t},v1=${createHmac('sha256', SECRET).update(`${t}.${body}`).digest('hex')}` }
}

/** A handler whose API has the invoice in this status, and what it called. */
function handlerFor(status: string, fails = false): { handler: WebhookHandler; called: string[] } {
  const called: string[] = []
  const get = async (id: string): Promise<Invoice> => ({ ...simulatedInvoice, id, status })
  const note = (name: string) => async () => {
    if (fails) throw new Error('the database is down')
    called.push(name)
  }
  const handler = createWebhookHandler({
    ...{ client: { invoices: { get } } as never, secret: [`${SECRET}_old`, SECRET] },
    ...{ paid: note('paid'), partly: note('partly'), ended: note('ended'), waiting: note('waiting') },
  })
  return { handler, called }
}

// Guarantee: the invoice as it is now decides what is called, whatever the event said when it was made.
it.each([
  ['new', 'waiting'],
  ['partial', 'partly'],
  ['confirming', 'partly'],
  ['paid', 'paid'],
  ['overpaid', 'paid'],
  ['expired', 'ended'],
  ['cancelled', 'ended'],
])('an invoice that is %s calls %s', async (status, name) => {
  const { handler, called } = handlerFor(status)
  const { body, signature } = signed('invoice.expired')
  expect(await handler.handle(body, signature)).toEqual({ status: 204, text: '' })
  expect(called).toEqual([name])
})

it('takes what it does not know and calls nothing', async () => {
  const { handler, called } = handlerFor('disputed')
  for (const delivery of [
    signed('invoice.disputed'),
    signed('webhook.test'),
    signed('payout.sent', { id: 'x', object: 'payout' }),
  ])
    expect((await handler.handle(delivery.body, delivery.signature)).status).toBe(204)
  expect(called).toEqual([])
})

it('refuses what is not genuine, and has a failure delivered again', async () => {
  const { body, signature } = signed('invoice.paid')
  expect((await handlerFor('paid').handler.handle(`${body} `, signature)).text).toBe('signature_mismatch')
  await expect(handlerFor('paid', true).handler.handle(body, signature)).rejects.toThrow('database')
  const request = new Request('https://shop.example', {
    method: 'POST',
    body,
    headers: { 'x-webhook-signature': signature },
  })
  const log = vi.spyOn(console, 'error').mockReturnValue()
  expect((await handlerFor('paid', true).handler.fetch(request.clone())).status).toBe(500)
  expect((await handlerFor('paid').handler.fetch(request)).status).toBe(204)
  expect((await handlerFor('paid').handler.fetch(request)).status).toBe(500) // its body was read
  expect(log.mock.calls.map(([, error]) => String(error))).toEqual([
    'Error: the database is down',
    'TypeError: the body of the request was read before',
  ])
  log.mockRestore()
})

// Guarantee: nobody fills the memory of a shop: a body without an end is refused after a megabyte.
it('refuses a body without an end', async () => {
  let sent = 0
  const body = new ReadableStream<Uint8Array>({
    pull: (stream) => {
      sent += 65_536
      if (sent > 64 * 1_048_576) return stream.close()
      stream.enqueue(new Uint8Array(65_536))
    },
  })
  const headers = { 'x-webhook-signature': signed('invoice.paid').signature }
  const request = new Request('https://shop.example', { method: 'POST', body, headers, duplex: 'half' })
  const answer = await handlerFor('paid').handler.fetch(request)
  expect([answer.status, await answer.text()]).toEqual([400, 'signature_mismatch'])
  expect(sent).toBeLessThan(2 * 1_048_576)
})

// The README's line for Express: before a parser of bodies, and behind one that leaves the bytes. Behind one that consumed them nothing can be
// verified: that is the shop's fault, which its log names, and the delivery comes again.
it.each([
  [
    'before express.json()',
    (app: Express, node: WebhookHandler['node']) => app.post('/', node).use(express.json()),
    204,
  ],
  [
    'behind express.raw()',
    (app: Express, node: WebhookHandler['node']) => app.use(express.raw({ type: '*/*' })).post('/', node),
    204,
  ],
  [
    'behind express.text()',
    (app: Express, node: WebhookHandler['node']) => app.use(express.text({ type: '*/*' })).post('/', node),
    204,
  ],
  [
    'behind express.json()',
    (app: Express, node: WebhookHandler['node']) => app.use(express.json()).post('/', node),
    500,
  ],
] as const)('answers a server of Express %s', async (_, mount, status) => {
  const { handler, called } = handlerFor('paid')
  const log = vi.spyOn(console, 'error').mockReturnValue()
  const app = express()
  mount(app, handler.node)
  const server = app.listen(0)
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { body, signature } = signed('invoice.paid')
  const headers = { 'x-webhook-signature': signature, 'content-type': 'application/json' }
  expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(status)
  expect(called).toEqual(status === 204 ? ['paid'] : [])
  expect(log.mock.calls.join()).toContain(status === 204 ? '' : 'rawBody must be the raw request body')
  log.mockRestore()
  await new Promise((resolve) => server.close(resolve))
})

it('answers a server of Node', async () => {
  const { handler, called } = handlerFor('paid')
  const server = createServer(handler.node)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { body, signature } = signed('invoice.paid')
  const headers = { 'x-webhook-signature': signature }
  expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(204)
  expect((await fetch(url, { method: 'POST', body: 'x'.repeat(1_100_000), headers })).status).toBe(400)
  expect(called).toEqual(['paid'])
  await new Promise((resolve) => server.close(resolve))
})
