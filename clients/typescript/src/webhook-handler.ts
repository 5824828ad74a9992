import type { Paymesh } from './create-paymesh.ts'
import { CONDITIONS } from './fulfilment.generated.ts'
import type { Invoice } from './types.ts'
import { knownSecrets, PaymeshWebhookError, type VerifyWebhookOptions, verifyWebhook } from './verify-webhook.ts'

/** Largest body of a delivery that is read. */
const BODY_BYTES_MAX = 1_048_576

/** What a webhook handler calls, each with the invoice as it is now. All may be called more than once for one invoice. */
export interface WebhookCallbacks {
  /** `paid` or `overpaid`. */
  readonly paid: (invoice: Invoice) => Promise<void>
  /** `partial` or `confirming`: money was seen, and is not enough or not confirmed. */
  readonly partly: (invoice: Invoice) => Promise<void>
  /** `expired` or `cancelled`; some of the money may have come. */
  readonly ended: (invoice: Invoice) => Promise<void>
  /** `new` or `pending`. */
  readonly waiting?: (invoice: Invoice) => Promise<void>
}

/** Settings of a webhook handler. */
export interface WebhookHandlerOptions extends WebhookCallbacks, VerifyWebhookOptions {
  readonly client: Pick<Paymesh, 'invoices'> & Partial<Pick<Paymesh, 'livemode'>>
  /** The endpoint's `whsec_…` secret; two while one is replaced. */
  readonly secret: string | readonly string[]
}

/** Status and text of the answer to a delivery. */
export interface WebhookAnswer {
  readonly status: number
  readonly text: string
}

/** What is used of a request of `node:http` and Express. */
interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body?: unknown
}

/** What is used of a response of `node:http` and Express. */
interface NodeResponse {
  writeHead(status: number, headers: Readonly<Record<string, string>>): { end(text: string): unknown }
}

/** One receiver of deliveries, in the forms that frameworks take. */
export interface WebhookHandler {
  /** Takes the raw body and the header `X-Webhook-Signature`. Rejects with what a callback throws: answer 500, and it comes again. */
  handle(rawBody: string | Uint8Array, signature: string | readonly string[] | null | undefined): Promise<WebhookAnswer>
  /** For `node:http` and Express. Put it before any parser of bodies; after `express.raw()` or `express.text()` it takes the body from there. */
  readonly node: (request: NodeRequest, response: NodeResponse) => Promise<void>
  /** For a `route.ts` of Next and every other server with `Request` and `Response`. */
  readonly fetch: (request: Request) => Promise<Response>
}

/**
 * A receiver of deliveries: it verifies each, reads the invoice as it is now, because events come twice and out of order, and calls one
 * callback with it. Let the callbacks use `decide` and store its result in one transaction. Throws `TypeError` where it would accept
 * deliveries and tell nobody: without a callback, or without a secret.
 */
export function createWebhookHandler(options: WebhookHandlerOptions): WebhookHandler {
  const secret = knownSecrets(options.secret)
  const { paid, partly, ended, waiting = async () => undefined } = options
  const callbacks = { paid, partly, ended, waiting }
  for (const callback of Object.values(callbacks))
    if (typeof callback !== 'function') throw new TypeError('paid, partly, ended and waiting must be functions')
  const handle: WebhookHandler['handle'] = async (rawBody, signature) => {
    try {
      const event = verifyWebhook(rawBody, signature, secret, options)
      const { id, object } = event.data.object
      // An endpoint of both modes is told about tests, whose invoices a live key does not see.
      const isOfTest = event.type === 'webhook.test' || (options.client.livemode === true && event.livemode === false)
      if (isOfTest || object !== 'invoice') return { status: 204, text: '' }
      const invoice = await options.client.invoices.get(id)
      // A status of a later server calls nothing.
      if (Object.hasOwn(CONDITIONS, invoice.status))
        await callbacks[CONDITIONS[invoice.status as keyof typeof CONDITIONS]](invoice)
      return { status: 204, text: '' }
    } catch (error) {
      if (error instanceof PaymeshWebhookError) return { status: 400, text: error.reason }
      throw error
    }
  }
  return {
    handle,
    node: async (request, response) => {
      // A parser in front left the bytes here, or something that is refused.
      const body = async () => (request.body as Uint8Array | undefined) ?? (await readAll(request))
      const { status, text } = await answer(body, (bytes) => handle(bytes, request.headers['x-webhook-signature']))
      response.writeHead(status, { 'content-type': 'text/plain' }).end(text)
    },
    fetch: async (request) => {
      const body = async () => {
        if (request.bodyUsed) throw new TypeError('the body of the request was read before')
        return await readAll(request.body ?? [])
      }
      const { status, text } = await answer(body, (bytes) => handle(bytes, request.headers.get('x-webhook-signature')))
      return new Response(status === 204 ? null : text, { status })
    },
  }
}

/** What a server answers: 500, which has the delivery sent again, whatever fails, and the failure in the shop's log. */
async function answer(
  read: () => Promise<Uint8Array>,
  handle: (rawBody: Uint8Array) => Promise<WebhookAnswer>,
): Promise<WebhookAnswer> {
  try {
    return await handle(await read())
  } catch (error) {
    // biome-ignore lint/suspicious/noConsole: nobody else is told.
    console.error('Paymesh: a delivery was not handled and comes again:', error)
    return { status: 500, text: 'not handled' }
  }
}

/** The body; nothing of one that is larger than a delivery can be, so that no sender fills the memory. */
async function readAll(body: AsyncIterable<Uint8Array> | readonly Uint8Array[]): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > BODY_BYTES_MAX) return new Uint8Array()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
