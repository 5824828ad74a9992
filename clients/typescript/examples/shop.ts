// A whole shop in one file: an order is paid by crypto (or by card), ships once, and money to return is listed. A real shop keeps `orders`
// in its database and locks the order's row where this one has `alone`.
//
//   PAYMESH_API=… PAYMESH_KEY=… PAYMESH_SECRET=… PORT=8000 node shop.ts
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createPaymesh,
  createWebhookHandler,
  decide,
  type Invoice,
  type InvoiceCreate,
  type OrderState,
  PaymeshApiError,
} from '../src/main.ts'

interface Order {
  state: OrderState
  invoice: string
  shippedBy: string | null
  shipments: number
  readonly returns: Record<string, string>
  readonly seen: Map<string, string>
}

// biome-ignore lint/style/noProcessEnv: a separate program, configured by its environment.
const { PAYMESH_API = '', PAYMESH_KEY = '', PAYMESH_SECRET = '', PORT = '0' } = process.env
const client = createPaymesh({ apiKey: PAYMESH_KEY, baseUrl: PAYMESH_API })
const orders = new Map<string, Order>()

/** Runs one piece of work after the other. */
let last: Promise<unknown> = Promise.resolve()
function alone<T>(work: () => Promise<T>): Promise<T> {
  const mine = last.then(work)
  last = mine.catch(() => undefined)
  return mine
}

/** Decides about an order by its invoice as it is now; may run any number of times. */
async function settle(invoice: Invoice): Promise<void> {
  const order = orders.get(invoice.order_id ?? '')
  // An older picture of the invoice than the last one decides nothing.
  if (order === undefined || invoice.updated_at < (order.seen.get(invoice.id) ?? '')) return
  order.seen.set(invoice.id, invoice.updated_at)
  const isOther = order.state === 'shipped' && order.shippedBy !== invoice.id
  const decision = decide(isOther ? 'settled' : order.state, invoice)
  if (decision.action === 'ship' || decision.action === 'reserve_and_ship') {
    order.shipments += 1
    order.shippedBy = invoice.id
  }
  if (decision.action === 'cancel_invoice') await cancel(invoice.id)
  const isCurrent = invoice.id === order.invoice
  if (!isOther && (decision.action !== 'release' || isCurrent)) order.state = decision.order
  delete order.returns[invoice.id]
  if (decision.toReturnBase > 0n) order.returns[invoice.id] = String(decision.toReturnBase)
  if (decision.order === 'shipped' && !isCurrent) await cancel(order.invoice)
}

async function cancel(id: string): Promise<void> {
  try {
    await client.invoices.cancel(id)
  } catch (error) {
    // Money has come, or it has ended: its events say what to do.
    if (!(error instanceof PaymeshApiError && error.code === 'INVALID_STATE')) throw error
  }
}

/** The page where the order is paid; null when it is not to be paid any more. */
async function checkout(id: string, terms: InvoiceCreate): Promise<string | null> {
  const order = orders.get(id) ?? {
    ...{ state: 'open' as OrderState, invoice: '', shippedBy: null, shipments: 0, returns: {}, seen: new Map() },
  }
  orders.set(id, order)
  if (order.state !== 'open' && order.state !== 'released') return null
  const invoice = await client.invoices.ensure({ ...terms, order_id: id })
  order.invoice = invoice.id
  order.state = 'open'
  await settle(invoice)
  return stateOf(order) === 'open' ? invoice.urls.checkout : null
}

/** Read again: `settle` changes it. */
const stateOf = (order: Order): OrderState => order.state

/** Paid by card (`settled`), or given up (`cancelled`). */
async function endOtherwise(id: string, state: 'settled' | 'cancelled'): Promise<boolean> {
  const order = orders.get(id)
  if (order?.state !== 'open' && order?.state !== 'released') return false
  order.state = state
  if (state === 'settled') order.shipments += 1
  await settle(await client.invoices.get(order.invoice))
  return true
}

const alike = (invoice: Invoice): Promise<void> => alone(() => settle(invoice))
const webhooks = createWebhookHandler({
  ...{ client, secret: PAYMESH_SECRET.split(','), paid: alike, partly: alike, ended: alike, waiting: alike },
})

async function readJson(request: IncomingMessage): Promise<InvoiceCreate> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

const server = createServer(async (request, response) => {
  const [, , id = '', action] = (request.url ?? '').split('/')
  try {
    if (request.url === '/webhooks') return await webhooks.node(request, response)
    if (request.method === 'GET') {
      const { state, shipments, returns, invoice } = orders.get(id) ?? {}
      return response.end(JSON.stringify({ state, shipments, returns, invoice }))
    }
    if (action === 'checkout') {
      const terms = await readJson(request)
      const page = await alone(() => checkout(id, terms))
      return response.writeHead(page === null ? 409 : 303, page === null ? {} : { location: page }).end()
    }
    const done = await alone(() => endOtherwise(id, action === 'card' ? 'settled' : 'cancelled'))
    return response.writeHead(done ? 200 : 409).end()
  } catch (error) {
    return response.writeHead(500).end(String(error))
  }
})
server.listen(Number(PORT), '127.0.0.1', () => {
  process.stdout.write(`listening on ${(server.address() as AddressInfo).port}\n`)
})
