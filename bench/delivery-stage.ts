import { randomBytes } from 'node:crypto'
import { verifyWebhook } from '#clients/typescript/src/main.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/deliveries/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { endpointSecretContext } from '#shared/ports/secrets.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { deliveryId } from '#shared/usecases/outbox/relay-records.ts'
import { type Child, freePort, pause } from './child.ts'
import type { CreatedInvoice, InvoiceOrder, InvoiceRun } from './invoice-pace.ts'
import type { Arrival, Sample } from './merchant.ts'
import { type BenchKey, MASTER_KEY, type Rig } from './rig.ts'
export const ENDPOINTS = 100
/** Size of an event: 2 KB. */
const BODY_BYTES = 2_048
const ANSWER_AFTER_MS = 20
const INSERT_BATCH = 1_000

/** Endpoints, their receivers and the creator of invoices. */
export interface DeliveryStage {
  readonly merchant: Child
  /** One per workspace of the rig. */
  readonly endpoints: readonly BenchEndpoint[]
  /** Creates this many pending deliveries for each endpoint, due now, oldest first across all of them. */
  makeDue(perEndpoint: number): Promise<void>
  /** Creates invoices whose event has the size above, at `origin` or else with the product's API; resolves with the last response. */
  create(pace: InvoiceOrder['pace'], seconds: number, origin?: string | null): Promise<InvoiceRun>
  /** The webhooks since the last `take`; throws when a signature of the sample is wrong. */
  take(): Promise<readonly Arrival[]>
  /** Resolves when no delivery is pending, so every outcome is written; of the endpoints from this place on, if there is one. */
  settle(from?: number): Promise<void>
  /** Sets after how many ms receivers answer, by their place; null hangs. All others answer as at the start. */
  behave(answers: Readonly<Record<number, number | null>>): Promise<void>
  /** Makes `perSecond` deliveries of the endpoint at this place due in each of the next seconds. */
  makeDueEverySecond(at: number, perSecond: number, seconds: number): Promise<void>
  /** Deliveries of the first endpoints that have been due for more than a second and are not being sent. */
  countOverdue(endpoints: number): Promise<number>
  /** Removes pending deliveries. */
  forgetPending(): Promise<void>
  /** Place of the endpoint that receives an invoice's webhook. */
  endpointOf(invoice: CreatedInvoice): number
}

export interface BenchEndpoint {
  readonly id: string
  readonly workspaceId: string
  readonly secret: string
  readonly url: string
}

/** Starts the receivers and registers endpoints for each workspace of the rig, one unless `perShop` says otherwise. */
export async function openDeliveryStage(rig: Rig, perShop = 1): Promise<DeliveryStage> {
  const control = await freePort()
  const merchant = await rig.startHelper('bench/merchant.ts', control, {
    MERCHANT_PORT: String(control),
    MERCHANT_RECEIVERS: String(ENDPOINTS),
    MERCHANT_DELAY_MS: String(ANSWER_AFTER_MS),
  })
  const tell = async <T>(path: string, order: unknown = null): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${control}${path}`, { method: 'POST', body: JSON.stringify(order) })
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as T
  }
  const endpoints = await addEndpoints(rig, await tell<number[]>('/ports'), perShop)
  const keys = inTurn(rig.keys)
  const body = JSON.stringify({
    ...(JSON.parse(rig.body) as object),
    // The rest of the event is about 1 KB.
    metadata: { cart: 'c-1', one: 'x'.repeat(480), two: 'y'.repeat(480) },
  })
  const deliveries = rig.api.db.collection(WEBHOOK_DELIVERIES)
  return {
    merchant,
    endpoints,
    makeDue: (perEndpoint) => makeDue(rig, endpoints, perEndpoint),
    create: (pace, seconds, origin) =>
      tell('/create', {
        origin: origin ?? rig.api.origin,
        apiKeys: keys.map((key) => key.apiKey),
        body,
        seconds,
        pace,
      }),
    take: async () => {
      const { arrivals, samples } = await tell<{ arrivals: Arrival[]; samples: Sample[] }>('/take')
      for (const { receiver, signature, body: text } of samples) {
        verifyWebhook(text, signature, endpoints[receiver]?.secret ?? '')
      }
      return arrivals
    },
    settle: async (from = 0) => {
      const ofThese = from === 0 ? {} : { endpointId: { $in: endpoints.slice(from).map(({ id }) => id) } }
      while ((await deliveries.countDocuments({ status: 'pending', ...ofThese })) > 0) await pause(100)
    },
    behave: (answers) => tell('/behave', answers),
    makeDueEverySecond: async (at, perSecond, seconds) => {
      for (let second = 0; second < seconds; second += 1) {
        const rows = makeDue(rig, endpoints.slice(at, at + 1), perSecond, Date.now())
        await Promise.all([rows, pause(1_000)])
      }
    },
    countOverdue: (count) =>
      deliveries.countDocuments({
        endpointId: { $in: endpoints.slice(0, count).map(({ id }) => id) },
        ...{ status: 'pending', dueAt: { $lt: new Date(Date.now() - 1_000) } },
      }),
    forgetPending: async () => void (await deliveries.deleteMany({ status: 'pending' })),
    endpointOf: ({ key }) => endpoints.findIndex(({ workspaceId }) => workspaceId === keys[key]?.workspaceId),
  }
}

/** The first key of every workspace, then the second: a burst of invoices at one shop is another benchmark. */
function inTurn(keys: readonly BenchKey[]): readonly BenchKey[] {
  const byWorkspace = new Map<string, BenchKey[]>()
  for (const key of keys) byWorkspace.set(key.workspaceId, [...(byWorkspace.get(key.workspaceId) ?? []), key])
  const rows = [...byWorkspace.values()]
  return Array.from({ length: Math.max(...rows.map((row) => row.length)) }, (_, at) =>
    rows.flatMap((row) => row[at] ?? []),
  ).flat()
}

/** The only arrival of each event with its invoice; throws when one is missing. */
export function matched(
  created: readonly CreatedInvoice[],
  arrivals: readonly Arrival[],
): readonly (CreatedInvoice & { readonly arrivedAt: number })[] {
  const first = new Map<string, number>()
  for (const { eventId, at } of arrivals) {
    const invoice = /^evt_([0-9a-f]{32})_/.exec(eventId)?.[1] ?? ''
    if (!first.has(invoice)) first.set(invoice, at)
  }
  return created.map((invoice) => {
    const arrivedAt = first.get(invoice.id.replaceAll('-', ''))
    if (arrivedAt === undefined) throw new Error(`no webhook came for invoice ${invoice.id}`)
    return { ...invoice, arrivedAt }
  })
}

async function addEndpoints(rig: Rig, ports: readonly number[], perShop: number): Promise<readonly BenchEndpoint[]> {
  const random = createRandom(Date.now)
  const box = createSecretBox(MASTER_KEY)
  const repository = createEndpointRepository(rig.api.db)
  const workspaces = [...new Set(rig.keys.map((key) => key.workspaceId))]
  const each = workspaces.flatMap((workspaceId) => Array.from({ length: perShop }, () => workspaceId))
  const endpoints = each.slice(0, ENDPOINTS).map((workspaceId, index) => ({
    ...{ id: random.uuid(), workspaceId },
    secret: `whsec_${randomBytes(32).toString('base64')}`,
    url: `http://localhost:${ports[index]}/hooks/paymesh`,
  }))
  for (const { id, workspaceId, secret, url } of endpoints) {
    await repository.insert({
      ...{ id, workspaceId, url, events: ['invoice.created'], mode: 'test', description: null, status: 'enabled' },
      sealedSecrets: [box.seal(secret, endpointSecretContext(id))],
      formerSecrets: [],
      inFlightMax: null,
      ...{ createdAt: Date.now(), updatedAt: Date.now(), opId: null },
    })
  }
  return endpoints
}

async function makeDue(
  { api }: Rig,
  endpoints: readonly BenchEndpoint[],
  perEndpoint: number,
  dueAt = Date.now() - perEndpoint * endpoints.length - 60_000,
): Promise<void> {
  const random = createRandom(Date.now)
  const [events, deliveries] = [createEventRepository(api.db), createDeliveryRepository(api.db)]
  const total = perEndpoint * endpoints.length
  const createdAt = dueAt
  const shared = { mode: 'test', createdAt } as const
  const rows = Array.from({ length: total }, (_, index) => {
    const { id: endpointId, workspaceId } = endpoints[index % endpoints.length] as BenchEndpoint
    const invoiceId = random.uuid()
    const eventId = `evt_${invoiceId.replaceAll('-', '')}_1`
    const type = 'invoice.created' as const
    const head = `{"id":"${eventId}","object":"event","type":"${type}","data":{"object":{"note":"`
    const body = Buffer.from(`${head.padEnd(BODY_BYTES - 4, 'x')}"}}}`)
    const pending = { status: 'pending', attempt: 0, generation: 0, claims: 0, leaseToken: null } as const
    const unknown = { finishedAt: null, lastError: null, lastStatusCode: null }
    return {
      event: { ...shared, id: eventId, workspaceId, invoiceId, seq: 1, type, body },
      delivery: {
        ...{ ...shared, ...pending, ...unknown, id: deliveryId(eventId, endpointId, 0) },
        ...{ eventId, endpointId, workspaceId, eventType: type, dueAt: createdAt + index },
      },
    }
  })
  for (let at = 0; at < rows.length; at += INSERT_BATCH) {
    const batch = rows.slice(at, at + INSERT_BATCH)
    await events.insertMany(batch.map((row) => row.event))
    await deliveries.insertMany(batch.map((row) => row.delivery))
  }
}
