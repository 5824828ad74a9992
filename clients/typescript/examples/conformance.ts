// Plays conformance scenes: one JSON command a line from standard input, its result on a line of standard output (clients/README.md).
import { createInterface } from 'node:readline'
import {
  createPaymesh,
  createWebhookHandler,
  type Invoice,
  type Paymesh,
  PaymeshApiError,
  PaymeshConnectionError,
  PaymeshWebhookError,
  verifyWebhook,
  type WebhookCallbacks,
} from '../src/main.ts'

let client: Paymesh
let waits: number[] = []

// biome-ignore lint/suspicious/noExplicitAny: a command has the form of its scene.
const COMMANDS: Readonly<Record<string, (command: any) => Promise<unknown>>> = {
  open: async ({ api, api_key: apiKey, timeout_s: timeoutS = 30 }) => {
    const sleep = async (ms: number): Promise<void> => void waits.push(ms / 1_000)
    client = createPaymesh({ apiKey, baseUrl: api, sleep, timeoutMs: timeoutS * 1_000 })
  },
  create: async ({ body, key }) => await client.invoices.create(body, key && { idempotencyKey: key }),
  get: async ({ id }) => await client.invoices.get(id),
  cancel: async ({ id }) => await client.invoices.cancel(id),
  delete: async ({ id }) => await client.webhookEndpoints.delete(id),
  ensure: async ({ body }) => await client.invoices.ensure(body),
  list: async ({ query }) => {
    const items: Invoice[] = []
    for await (const item of client.invoices.list(query)) items.push(item)
    return items
  },
  verify: async ({ body, signature, secrets, now }) => {
    const verify = () => verifyWebhook(Buffer.from(body, 'base64'), signature, secrets, { now: () => now * 1_000 })
    const { id, type } = usedWell(verify)
    return { id, type }
  },
  handle: async ({ body, signature, secrets, without, fails }) => {
    const called: string[] = []
    const note = (name: string) => async (invoice: Invoice) => {
      if (fails === 'later') await null
      if (fails !== undefined) throw new Error('the database is down')
      called.push(`${name} ${invoice.status}`)
    }
    const names = ['paid', 'partly', 'ended', 'waiting'].filter((name) => name !== without)
    const callbacks = Object.fromEntries(names.map((name) => [name, note(name)])) as unknown as WebhookCallbacks
    const handler = usedWell(() => createWebhookHandler({ client, secret: secrets, ...callbacks }))
    const headers = signature === '' ? {} : { 'x-webhook-signature': signature }
    const request = { method: 'POST', body: Buffer.from(body, 'base64'), headers }
    const response = await handler.fetch(new Request('https://shop.example', request))
    return { status: response.status, text: await response.text(), called }
  },
}

/** What the client refuses before it does anything. */
class Misuse extends Error {}

function usedWell<T>(call: () => T): T {
  try {
    return call()
  } catch (error) {
    throw error instanceof TypeError ? new Misuse(error.message) : error
  }
}

function describe(error: unknown): object {
  if (error instanceof PaymeshApiError) {
    const { code, status, details, requestId: request_id, retryable } = error
    return { kind: 'api', code, status, details, request_id, retryable }
  }
  if (error instanceof PaymeshConnectionError) {
    const { status, retryable, idempotencyKey: key } = error
    return { kind: 'connection', status, retryable, key }
  }
  if (error instanceof PaymeshWebhookError) return { kind: 'refused', reason: error.reason }
  if (error instanceof Misuse) return { kind: 'misuse', message: error.message }
  return { kind: 'other', message: String(error) }
}

for await (const line of createInterface(process.stdin)) {
  const command = JSON.parse(line)
  waits = []
  const result = await COMMANDS[command.call]?.(command).then(
    (ok) => ({ ok: ok ?? null }),
    (error: unknown) => ({ error: describe(error) }),
  )
  process.stdout.write(`${JSON.stringify({ ...result, waits })}\n`)
}
