import { createHmac } from 'node:crypto'
import type { AssetId, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { HttpPost } from '#shared/ports/webhook-http.ts'
import type { SimProcess } from '../kernel/sim-process.ts'
import { must } from '../kernel/violation.ts'
import type { Receiver } from './receiver.ts'

/** What an invoice's answer told the merchant. */
export interface KnownInvoice {
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly amountMinor: number
}

/** An endpoint as its merchant knows it. */
export interface KnownEndpoint {
  readonly id: string
  readonly url: string
  readonly secret: string
  readonly workspaceId: string
  readonly mode: 'live' | 'test' | 'both'
  readonly events: readonly string[]
  /** When its creation was acknowledged, and when its deletion was asked for. */
  readonly createdAt: number
  deletedAt: number | null
}

/** A request that reached a receiver. */
export interface Arrival {
  readonly request: HttpPost
  readonly sender: SimProcess
  readonly at: number
  /** The receiver will answer 2xx in time. */
  readonly succeeds: boolean
}

/** A request whose sender has just begun it. */
export interface BegunRequest {
  readonly deliveryId: string
  readonly endpoint: KnownEndpoint
  readonly sender: SimProcess
  readonly at: number
}

/** A transfer that a payer made, and what for. */
export interface KnownTransfer {
  readonly txHash: string
  readonly key: string
  readonly invoiceId: string
  readonly network: NetworkId
  readonly asset: AssetId | null
  readonly amountBase: bigint
}

/** A keyed request and every answer to it that a client got. */
export interface KeyedRequest {
  readonly body: string
  answer: { readonly status: number; readonly body: string; readonly at: number } | null
}

/** What really happened, as the outside knows it; the store is compared with this. */
export interface Book {
  readonly invoices: Map<string, KnownInvoice>
  readonly endpoints: Map<string, KnownEndpoint>
  readonly keyed: Map<string, KeyedRequest>
  readonly transfers: Map<string, KnownTransfer>
  readonly receivers: Map<string, Receiver>
  readonly blockedUrls: Set<string>
  /** First bytes of each event that arrived anywhere. */
  readonly bodies: Map<string, Buffer>
  /** Event of each delivery id that arrived. */
  readonly deliveries: Map<string, string>
  /** Deliveries that a receiver took with 2xx in time. */
  readonly taken: Set<string>
  /**
   * When senders of a delivery learnt how a request ended, since an outcome was recorded last. A sender that was frozen may be one of
   * two, and learn of its own last.
   */
  readonly answeredAt: Map<string, number[]>
  /** Transfer keys that an operator attached or tried to. */
  readonly attached: Set<string>
  /** Idempotency keys used last, by workspace and path: some clients use one in both modes. */
  readonly lastKeys: Map<string, { readonly key: string; readonly mode: Mode }>
  /** Status of every state of an invoice that was ever stored, by `<id> <updatedAt>`. */
  readonly states: Map<string, string>
  /** Chains whose deadlines a person let pass behind blocks that were skipped. */
  readonly released: Set<string>
  /** Simulated payments that were asked for, by invoice. */
  readonly played: Map<string, number>
  requests: number
  receiverOf(url: string): Receiver
  began(request: HttpPost, sender: SimProcess, at: number): void
  arrived(arrival: Arrival): void
  answered(deliveryId: string, at: number): void
}

/** An empty book. `evaluate` looks at each arrival besides what every receiver checks itself, and `begins` at each request that begins. */
export function createBook(
  evaluate: (arrival: Arrival, endpoint: KnownEndpoint) => void,
  begins: (begun: BegunRequest) => void,
): Book {
  const book: Book = {
    invoices: new Map(),
    endpoints: new Map(),
    keyed: new Map(),
    transfers: new Map(),
    receivers: new Map(),
    blockedUrls: new Set(),
    bodies: new Map(),
    deliveries: new Map(),
    taken: new Set(),
    answeredAt: new Map(),
    attached: new Set(),
    lastKeys: new Map(),
    states: new Map(),
    released: new Set(),
    played: new Map(),
    requests: 0,
    receiverOf(url) {
      const receiver = book.receivers.get(url)
      must(receiver !== undefined, 'S12', () => `a request went to ${url}, which no merchant registered`)
      return receiver
    },
    answered(deliveryId, at) {
      book.answeredAt.set(deliveryId, [...(book.answeredAt.get(deliveryId) ?? []), at])
    },
    began(request, sender, at) {
      const endpoint = [...book.endpoints.values()].find(({ url }) => url === request.url)
      if (endpoint !== undefined) begins({ deliveryId: request.headers['X-Webhook-Id'] ?? '', endpoint, sender, at })
    },
    arrived(arrival) {
      book.requests += 1
      const { request, at } = arrival
      if (arrival.succeeds) book.taken.add(request.headers['X-Webhook-Id'] ?? '')
      const candidates = [...book.endpoints.values()].filter(({ url }) => url === request.url)
      // A creation whose answer was lost has no known secret yet; its requests cannot be checked.
      const endpoint = candidates[0]
      if (endpoint === undefined) return
      checkSignature(request, endpoint, at)
      checkIdentity(book, request)
      evaluate(arrival, endpoint)
    },
  }
  return book
}

/** What a receiver that follows the documentation does, with code of its own. */
function checkSignature(request: HttpPost, endpoint: KnownEndpoint, at: number): void {
  const header = request.headers['X-Webhook-Signature'] ?? ''
  const [, t = '', digest = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? []
  const body = Buffer.from(request.body)
  const expected = createHmac('sha256', endpoint.secret).update(`${t}.`).update(body).digest('hex')
  must(digest === expected, 'S10', () => `the signature of ${request.headers['X-Webhook-Id']} does not verify`)
  const age = Math.abs(at / 1_000 - Number(t))
  must(age <= 300, 'S10', () => `a request is signed for a time ${age} s away`)
  const id = request.headers['webhook-id'] ?? ''
  const key = Buffer.from(endpoint.secret.slice('whsec_'.length), 'base64')
  const standard = createHmac('sha256', key)
    .update(`${id}.${request.headers['webhook-timestamp']}.`)
    .update(body)
    .digest('base64')
  const offered = (request.headers['webhook-signature'] ?? '').split(' ')
  must(offered.includes(`v1,${standard}`), 'S10', () => `the standard signature of ${id} does not verify`)
}

/** The same event always has the same bytes, and a delivery never changes its event. */
function checkIdentity(book: Book, request: HttpPost): void {
  const body = Buffer.from(request.body)
  const event = JSON.parse(body.toString()) as { id: string; type: string }
  const deliveryId = request.headers['X-Webhook-Id'] ?? ''
  must(
    event.id === request.headers['webhook-id'],
    'S10',
    () => `${deliveryId} names event ${request.headers['webhook-id']} and carries ${event.id}`,
  )
  must(
    event.type === request.headers['X-Webhook-Event'],
    'S10',
    () => `${deliveryId} names another type than it carries`,
  )
  const known = book.bodies.get(event.id)
  if (known === undefined) book.bodies.set(event.id, body)
  else must(known.equals(body), 'S10', () => `event ${event.id} arrived with different bytes`)
  const before = book.deliveries.get(deliveryId) ?? event.id
  must(before === event.id, 'S10', () => `delivery ${deliveryId} carried ${before}, then ${event.id}`)
  book.deliveries.set(deliveryId, event.id)
}
