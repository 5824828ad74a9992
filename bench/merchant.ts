import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInvoices, type InvoiceOrder } from './invoice-pace.ts'
import { textOf } from './text-of.ts'

/*
 * The merchants of a benchmark as one process: it receives webhooks on many ports and creates invoices, so that one clock
 * times both. Controlled through a control port; node:http without a framework, because it shares the machine with
 * the measured processes.
 */

/** One received webhook; `at` in ms of the machine's monotonic clock. */
export interface Arrival {
  readonly eventId: string
  readonly deliveryId: string
  readonly receiver: number
  readonly at: number
}

/** One in this many webhooks is stored whole, to check its signature. */
const SAMPLE_EVERY = 97

/** A webhook that was stored whole. */
export interface Sample {
  readonly receiver: number
  readonly signature: string
  readonly body: string
}

const { MERCHANT_PORT = '0', MERCHANT_RECEIVERS = '1', MERCHANT_DELAY_MS = '20' } = process.env
const delayMs = Number(MERCHANT_DELAY_MS)
/** Receivers that answer after another delay, or never. */
let answers: Readonly<Record<number, number | null>> = {}
let arrivals: Arrival[] = []
let samples: Sample[] = []
let seen = 0
const waiting = new Set<() => void>()

const receivers = await Promise.all(
  Array.from({ length: Number(MERCHANT_RECEIVERS) }, (_, receiver) =>
    listen((request, response) => receive(receiver, request, response)),
  ),
)
const control = createServer((request, response) => {
  void answer(request).then(
    (result) => response.end(JSON.stringify(result)),
    (error: unknown) => {
      response.writeHead(500).end(String(error))
    },
  )
})
control.listen(Number(MERCHANT_PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))

async function answer(request: IncomingMessage): Promise<unknown> {
  const text = await textOf(request)
  if (request.url === '/ports') return receivers
  if (request.url === '/take') {
    const taken = { arrivals, samples }
    arrivals = []
    samples = []
    return taken
  }
  if (request.url === '/behave') {
    answers = JSON.parse(text) as typeof answers
    return null
  }
  return createInvoices(JSON.parse(text) as InvoiceOrder, () => new Promise((resolve) => waiting.add(resolve)))
}

function receive(receiver: number, request: IncomingMessage, response: ServerResponse): void {
  seen += 1
  const chunks: Buffer[] | null = seen % SAMPLE_EVERY === 0 ? [] : null
  if (chunks === null) request.resume()
  else request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { headers } = request
    const [eventId, deliveryId] = [String(headers['webhook-id']), String(headers['x-webhook-id'])]
    arrivals.push({ eventId, deliveryId, receiver, at: performance.timeOrigin + performance.now() })
    // The bare loop does not sign.
    if (chunks !== null && headers['x-webhook-signature'] !== undefined) {
      samples.push({
        receiver,
        signature: String(headers['x-webhook-signature']),
        body: Buffer.concat(chunks).toString('utf8'),
      })
    }
    for (const resolve of waiting) {
      waiting.delete(resolve)
      resolve()
      break
    }
    const after = answers[receiver] === undefined ? delayMs : answers[receiver]
    if (after !== null) setTimeout(() => response.writeHead(200, { 'Content-Length': 2 }).end('ok'), after)
  })
}

function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  const server = createServer(handle)
  server.keepAliveTimeout = 30_000
  server.on('connection', (socket) => socket.on('error', () => undefined))
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
}
