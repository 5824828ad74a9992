import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PaymeshWebhookError, verifyWebhook, type WebhookEvent } from '#clients/typescript/src/main.ts'
import type { ReceivedEvent } from './expectations.ts'

/** A merchant's webhook receiver that verifies each request before it uses it. */
export interface Receiver {
  /** `http://localhost:<port>/webhooks` */
  readonly url: string
  /** Sets the signing secret; earlier requests are checked once it is known. */
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
export async function startReceiver(
  onEvent: (event: ReceivedEvent, request: { readonly deliveryId: string }) => void,
): Promise<Receiver> {
  const events: ReceivedEvent[] = []
  let wake: () => void = () => undefined
  let learn: (secret: string) => void = () => undefined
  const secret = new Promise<string>((resolve) => {
    learn = resolve
  })

  const accept = async (request: IncomingMessage): Promise<void> => {
    const raw = await readBody(request)
    const { event: body, signatureValid } = evaluate(raw, request.headers['x-webhook-signature'], await secret)
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
    verifyWith: (value) => learn(value),
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
