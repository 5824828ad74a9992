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
} from '../src/main.ts'

let client: Paymesh
let waits: number[] = []

// biome-ignore lint/suspicious/noExplicitAny: a command has the form of its scene.
const COMMANDS: Readonly<Record<string, (command: any) => Promise<unknown>>> = {
  open: async ({ api, api_key: apiKey }) => {
    const sleep = async (ms: number): Promise<void> => void waits.push(ms / 1_000)
    client = createPaymesh({ apiKey, baseUrl: api, sleep })
  },
  create: async ({ body, key }) => await client.invoices.create(body, key && { idempotencyKey: key }),
  get: async ({ id }) => await client.invoices.get(id),
  cancel: async ({ id }) => await client.invoices.cancel(id),
  ensure: async ({ body }) => await client.invoices.ensure(body),
  list: async ({ query }) => {
    const items: Invoice[] = []
    for await (const item of client.invoices.list(query)) items.push(item)
    return items
  },
  verify: async ({ body, signature, secrets, now }) => {
    const { id, type } = verifyWebhook(Buffer.from(body, 'base64'), signature, secrets, { now: () => now * 1_000 })
    return { id, type }
  },
  handle: async ({ body, signature, secrets }) => {
    const called: string[] = []
    const note = (name: string) => async (invoice: Invoice) => void called.push(`${name} ${invoice.status}`)
    const [paid, partly, ended, waiting] = ['paid', 'partly', 'ended', 'waiting'].map(note) as [Note, Note, Note, Note]
    const handler = createWebhookHandler({ client, secret: secrets, paid, partly, ended, waiting })
    return { ...(await handler.handle(Buffer.from(body, 'base64'), signature)), called }
  },
}
type Note = (invoice: Invoice) => Promise<void>

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
