import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPaymesh, PaymeshWebhookError, verifyWebhook, type WebhookEvent } from '#clients/typescript/src/main.ts'
import { payOnLocalChain } from '#dev/local-chain/pay.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { DevInfo } from '../start/dev-info.ts'
import { EXPECTED_EVENTS, faultsOf, type ReceivedEvent } from './expectations.ts'
import type { Timeline } from './timeline.ts'

/** Mining, confirming and delivering take about five seconds; ten times that indicates a fault. */
const STORY_TIMEOUT_MS = 60_000

/**
 * Creates an invoice, pays it with a real ERC-20 transfer on the local chain and waits for its webhooks, printing each
 * step as it happens. Returns all faults; an empty list is a success.
 */
export async function tellStory(dev: DevInfo, timeline: Timeline): Promise<readonly string[]> {
  const paymesh = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const receiver = await startReceiver((event, request) => {
    const { status, received, crypto: paymentMethod } = event.invoice
    const money = paymentMethod
      ? ` · received ${received.amount} of ${paymentMethod.amount} ${paymentMethod.symbol}`
      : ''
    timeline.line('webhook', `${event.type.padEnd(19)} ${event.signatureValid ? 'signature ok' : 'BAD SIGNATURE'}`)
    timeline.note(`invoice ${status}${money} · delivery ${request.deliveryId}`)
  })
  try {
    const endpoint = await paymesh.webhookEndpoints.create({ url: receiver.url, events: ['*'] })
    // No event is sent before the first invoice.
    receiver.verifyWith(endpoint.secret)
    timeline.line('merchant', `listens for webhooks at ${receiver.url}`)
    const invoice = await paymesh.invoices.create({
      amount: '25.00',
      currency: 'USD',
      asset: 'usdt_ethereum',
      description: 'Two bags of coffee',
      order_id: 'demo-1',
    })
    if (invoice.crypto === null) return ['the invoice came without an address']
    const { amount, symbol, network, address, required_confirmations: confirmations } = invoice.crypto
    timeline.line('merchant', `created invoice #${invoice.number}: ${invoice.amount.value} ${invoice.amount.currency}`)
    timeline.note(`rate and address locked: ${amount} ${symbol} on ${network} to ${address}`)
    const amountBase = BigInt(invoice.crypto.amount_base_units)
    const { txHash } = await payOnLocalChain({
      rpcUrl: dev.rpcUrls[network] ?? '',
      contract: ASSETS.usdt_ethereum.contract,
      to: address,
      amountBase,
    })
    timeline.line('payer', `sent ${amount} ${symbol} in transaction ${txHash.slice(0, 18)}…`)
    timeline.line('chain', `${confirmations} confirmations required, one block a second`)
    const events = await receiver.waitForTypes(EXPECTED_EVENTS, STORY_TIMEOUT_MS)
    const paid = await paymesh.invoices.get(invoice.id)
    timeline.line('merchant', `asks the API: invoice #${paid.number} is ${paid.status}`)
    return [
      ...faultsOf(events, { amountBase, txHash }),
      ...(paid.status === 'paid' ? [] : [`the API says ${paid.status}`]),
    ]
  } finally {
    await receiver.close()
  }
}

/** A merchant's webhook receiver that verifies each request before it uses it. */
interface Receiver {
  /** `http://localhost:<port>/webhooks` */
  readonly url: string
  /** Sets the signing secret, before the first request. */
  verifyWith(secret: string): void
  /** Resolves with all events so far when each type has arrived at least once, or when the time is over. */
  waitForTypes(types: readonly string[], timeoutMs: number): Promise<readonly ReceivedEvent[]>
  close(): Promise<void>
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** A shop would respond with 400 to a bad signature and stop; the demo continues to show it as a fault. */
function evaluate(
  raw: Buffer,
  header: string | string[] | undefined,
  secret: string,
): { event: WebhookEvent; signatureValid: boolean } {
  try {
    return { event: verifyWebhook(raw, header, secret), signatureValid: true }
  } catch (error) {
    if (!(error instanceof PaymeshWebhookError)) throw error
    return { event: JSON.parse(raw.toString('utf8')) as WebhookEvent, signatureValid: false }
  }
}

/** Listens on a free loopback port; `onEvent` is called for each request after its verification. */
async function startReceiver(
  onEvent: (event: ReceivedEvent, request: { readonly deliveryId: string }) => void,
): Promise<Receiver> {
  const events: ReceivedEvent[] = []
  let wake: () => void = () => undefined
  let secret = ''

  const accept = async (request: IncomingMessage): Promise<void> => {
    const raw = await readBody(request)
    const { event: body, signatureValid } = evaluate(raw, request.headers['x-webhook-signature'], secret)
    const event: ReceivedEvent = {
      id: body.id,
      type: body.type,
      signatureValid,
      invoice: body.data.object,
      payment: body.data.payment ?? null,
    }
    events.push(event)
    onEvent(event, { deliveryId: String(request.headers['x-webhook-id']) })
    wake()
  }

  const server = createServer((request, response) => {
    accept(request)
      .then(() => response.writeHead(200).end())
      .catch(() => response.writeHead(400).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    url: `http://localhost:${port}/webhooks`,
    verifyWith: (value) => {
      secret = value
    },
    waitForTypes: (types, timeoutMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => resolve(events), timeoutMs)
        wake = () => {
          if (!types.every((type) => events.some((event) => event.type === type))) return
          clearTimeout(timer)
          resolve(events)
        }
        wake()
      }),
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
