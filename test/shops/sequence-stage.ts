import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SimulationScenario } from '#shared/domain/invoice/plan-simulation.ts'
import { presentInvoice, snapshotInvoice } from '#shared/usecases/invoices/present-invoice.ts'
import { confirmSimulated, simulatePayment } from '#shared/usecases/invoices/simulate-payment.ts'
import { eventRecords } from '#shared/usecases/outbox/relay-records.ts'
import type { TestApi } from '#test/support/api.ts'
import type { Shop } from './languages.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw9r8GKYqrTwg='
const URLS = { checkoutBaseUrl: 'https://pay.example.com' }
/** Fewer than a key may make at once. */
const REQUESTS_PER_KEY = 40

/** What happens to an order or to one of its invoices. */
export type Step = SimulationScenario | 'confirm' | 'checkout' | 'card' | 'withdraw' | 'deliver' | 'forge'

/** An invoice as the API returns it, as far as the outcome depends on it. */
interface InvoiceAnswer {
  readonly id: string
  readonly status: string
  readonly received: { readonly confirmed_base_units: string }
  readonly crypto: { readonly amount_base_units: string } | null
}

/** What a shop says about an order. */
export interface Order {
  readonly state: string
  readonly shipments: number
  readonly returns: Readonly<Record<string, string>>
  readonly invoice: string
}

/** The live API for a sample shop, behind an address that changes keys before their limit of requests, and the secret of its webhooks. */
export async function openShopApi(api: TestApi) {
  let key = api.testKey
  let made = 0
  const server = createServer(async (request, response) => {
    made += 1
    if (made % REQUESTS_PER_KEY === 0) key = (await api.newKey('test')).apiKey
    const body = await bodyOf(request)
    const headers = Object.fromEntries(
      ['content-type', 'idempotency-key'].flatMap((name) => {
        const value = request.headers[name]
        return typeof value === 'string' ? [[name, value]] : []
      }),
    )
    const answer = await api.call(request.method ?? 'GET', (request.url ?? '').replace('/api/v1', ''), {
      ...{ key, headers, ...(body.length > 0 && { body }) },
    })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const settings = {
    api: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`,
    key: api.testKey,
    secret: SECRET,
  }
  return { settings, close: () => new Promise((resolve) => server.close(resolve)) }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** Random numbers from a seed: the same run for the same seed. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) | 0
    return (state >>> 8) % below
  }
}

/** Why an order ended, as a shop could learn it: the first of these that reached it. */
type Outcome = { readonly kind: 'invoice'; readonly id: string } | { readonly kind: 'card' | 'withdrawn' } | null

/**
 * Plays one sequence of steps against a shop and the live API, and delivers every event at least once, some twice, in any order. Returns
 * what the shop says and what it should say; steps that the state machine refuses change nothing.
 */
export async function playSequence(api: TestApi, shop: Shop, orderId: string, steps: readonly Step[], seed: number) {
  // Addresses are derived ahead, a number at a time, and a rate is soon too old.
  if (seed % 8 === 0) {
    await api.engine.publishRates()
    await api.engine.watchEverything()
  }
  const random = randomFrom(seed)
  const scope = { workspaceId: api.engine.workspace.id, mode: 'test' as const }
  const invoices: string[] = []
  const known = new Set<string>()
  const pending: { readonly id: string; readonly body: Buffer; readonly invoice: string }[] = []
  let outcome: Outcome = null

  const invoiceOf = async (id: string): Promise<InvoiceAnswer> => {
    const invoice = await api.engine.deps.invoices.findById(id)
    if (invoice === null) throw new Error(`invoice ${id} is gone`)
    return presentInvoice(invoice.terms, snapshotInvoice(api.engine.deps.catalog, invoice.state), URLS)
  }
  const collect = async (): Promise<void> => {
    for (const id of invoices) {
      const invoice = await api.engine.deps.invoices.findById(id)
      if (invoice === null) continue
      for (const { id: event, body } of eventRecords(invoice, URLS)) {
        if (known.has(event)) continue
        known.add(event)
        pending.push({ id: event, body: Buffer.from(body), invoice: id })
      }
    }
  }
  const orderOf = async (): Promise<Order> => (await (await fetch(`${shop.url}/orders/${orderId}`)).json()) as Order
  const learn = async (id: string): Promise<void> => {
    if (outcome === null && /paid$/.test((await invoiceOf(id)).status)) outcome = { kind: 'invoice', id }
  }
  const post = (path: string, body: Buffer | string, headers: Record<string, string> = {}) =>
    fetch(`${shop.url}${path}`, { method: 'POST', body, headers, redirect: 'manual' })
  const deliver = async (index: number, keep: boolean): Promise<void> => {
    const event = pending[index]
    if (event === undefined) return
    if (!keep) pending.splice(index, 1)
    await learn(event.invoice)
    const { status } = await post('/webhooks', event.body, { 'x-webhook-signature': signed(event.body, SECRET) })
    if (status !== 204) throw new Error(`a delivery was answered with ${status}`)
  }
  const play = async (step: Step): Promise<void> => {
    if (step === 'deliver') return await deliver(random(pending.length || 1), random(3) === 0)
    if (step === 'checkout') {
      const [newest] = invoices.slice(-1)
      if (newest !== undefined && outcome === null && !/expired|cancelled/.test((await invoiceOf(newest)).status))
        await learn(newest)
      const terms = JSON.stringify({
        amount: random(4) === 0 ? '30' : '25.00',
        currency: 'USD',
        asset: 'usdt_ethereum',
      })
      const { status } = await post(`/orders/${orderId}/checkout`, terms)
      if (status >= 500) throw new Error(`the checkout was answered with ${status}`)
      const { invoice } = await orderOf()
      if (!invoices.includes(invoice)) invoices.push(invoice)
      return
    }
    if (step === 'card' || step === 'withdraw') {
      const { status } = await post(`/orders/${orderId}/${step === 'card' ? 'card' : 'cancel'}`, '')
      if (status === 200) outcome = { kind: step === 'card' ? 'card' : 'withdrawn' }
      return
    }
    const invoiceId = invoices[random(invoices.length)] ?? ''
    if (step === 'forge') {
      const [{ body } = { body: Buffer.from('{}') }] = pending
      const { status } = await post('/webhooks', body, { 'x-webhook-signature': signed(body, 'whsec_of_another') })
      if (status !== 400) throw new Error(`a forged delivery was answered with ${status}`)
      return
    }
    if (step === 'confirm') await confirmSimulated(api.engine.deps, { ...scope, invoiceId })
    else {
      const opId = api.engine.deps.random.uuid()
      await simulatePayment(api.engine.deps, { ...scope, invoiceId, scenario: step, opId }).catch(unlessRefused)
    }
  }

  for (const step of steps) {
    await play(step)
    await collect()
  }
  while (pending.length > 0) {
    await deliver(random(pending.length), random(6) === 0)
    await collect()
  }
  const ended = await Promise.all(invoices.map(invoiceOf))
  return { order: await orderOf(), expected: expectedOf(outcome, ended) }
}

function unlessRefused(error: unknown): void {
  if (!['INVALID_STATE'].includes(String(Object(error).code))) throw error
}

function signed(body: Buffer, secret: string): string {
  const t = Math.floor(Date.now() / 1_000)
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`
}

/** Shipped once when it was paid, else never; and every base unit is kept for the order, awaited, or to be returned. */
function expectedOf(outcome: Outcome, invoices: readonly InvoiceAnswer[]) {
  const returns: Record<string, string> = {}
  for (const { id, status, received, crypto } of invoices) {
    const confirmed = BigInt(received.confirmed_base_units)
    const due = BigInt(crypto?.amount_base_units ?? 0)
    const isEnded = status === 'expired' || status === 'cancelled'
    const isOwn = outcome?.kind === 'invoice' && outcome.id === id
    const kept = isOwn ? (status === 'overpaid' ? due : confirmed) : outcome === null && !isEnded ? confirmed : 0n
    if (confirmed > kept) returns[id] = String(confirmed - kept)
  }
  return { shipments: outcome !== null && outcome.kind !== 'withdrawn' ? 1 : 0, returns }
}
