import type { Ms } from '#shared/domain/invoice/model.ts'
import { WEBHOOK_RETRY_DELAYS_MS } from '#shared/domain/webhook/schedule.ts'
import type { Delivery, DeliveryAttempt } from '#shared/ports/deliveries.ts'
import type { HttpFault } from '#shared/ports/webhook-http.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { signDelivery } from './send.ts'

/** Longest part of an event's body that is shown, in characters. */
const BODY_MAX = 65_536
/** Not a real secret: only the names of the headers are used. */
const NO_SECRET = 'whsec_AAAA'

/** Dependencies of describing a delivery. */
type DescribeDeliveryDeps = Uses<'deliveries' | 'endpoints' | 'events'>

/** One scheduled attempt that is still to come. */
interface FutureAttempt {
  readonly number: number
  /** Null while unknown: the previous attempt is being sent, or the endpoint is paused. */
  readonly at: Ms | null
  /** The pause before it, in milliseconds. */
  readonly delayMs: Ms
}

/** Everything shown about a delivery. */
interface DescribedDelivery {
  /** Requests that are still stored (30 days), oldest first, with an explanation for failed ones. */
  readonly past: readonly (DeliveryAttempt & { readonly explanation: string | null })[]
  /** Attempts that would follow if each of them failed; the next one first. */
  readonly future: readonly FutureAttempt[]
  /** Maximum number of attempts. */
  readonly attemptsMax: number
  /** Null when the endpoint is gone. */
  readonly endpointStatus: 'enabled' | 'disabled' | null
  /** The request; null when the event no longer exists. The time is each attempt's own, and signatures are left out. */
  readonly request: {
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly cut: boolean
  } | null
}

/** Describes a delivery: its attempts, the request and the responses. */
export async function describeDelivery(deps: DescribeDeliveryDeps, delivery: Delivery): Promise<DescribedDelivery> {
  const [attempts, endpoint, events] = await Promise.all([
    deps.deliveries.listAttempts(delivery.id),
    deps.endpoints.findById(delivery.endpointId),
    deps.events.findByIds([delivery.eventId]),
  ])
  const body = events.get(delivery.eventId)?.body
  const text = body === undefined ? null : new TextDecoder().decode(body)
  return {
    past: attempts.map((attempt) => {
      return { ...attempt, explanation: attempt.error === null ? null : explainFailure(attempt.error) }
    }),
    future: futureOf(delivery),
    attemptsMax: WEBHOOK_RETRY_DELAYS_MS.length + 1,
    endpointStatus: endpoint?.status ?? null,
    request:
      text === null
        ? null
        : { headers: headersOf(delivery), body: text.slice(0, BODY_MAX), cut: text.length > BODY_MAX },
  }
}

/** The steps behind the recorded outcomes; none when the delivery has ended. */
function futureOf(delivery: Pick<Delivery, 'status' | 'attempt' | 'dueAt' | 'leaseToken'>): FutureAttempt[] {
  const { status, attempt, dueAt, leaseToken } = delivery
  if (status === 'succeeded' || status === 'failed') return []
  const known = status === 'pending' && leaseToken === null
  let at: Ms | null = known ? dueAt : null
  const steps: FutureAttempt[] = []
  for (let number = attempt + 1; number <= WEBHOOK_RETRY_DELAYS_MS.length + 1; number += 1) {
    const delayMs = number === 1 ? 0 : (WEBHOOK_RETRY_DELAYS_MS[number - 2] ?? 0)
    if (number > attempt + 1 && at !== null) at += delayMs
    steps.push({ number, at, delayMs })
  }
  return steps
}

function headersOf({ id, eventId, eventType }: Delivery): Readonly<Record<string, string>> {
  const headers = signDelivery({
    ...{ deliveryId: id, eventId, eventType, body: new Uint8Array(), timestampS: 0, secrets: [NO_SECRET] },
  })
  const SHOWN: Readonly<Record<string, string>> = {
    'X-Webhook-Timestamp': '(time of the attempt)',
    'webhook-timestamp': '(time of the attempt)',
    'X-Webhook-Signature': 't=…,v1=…',
    'webhook-signature': 'v1,…',
  }
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, SHOWN[name] ?? value]))
}

const SENTENCES: Readonly<Record<HttpFault, string>> = {
  bad_url: 'The URL is malformed, or its scheme or port is not allowed. Nothing was sent.',
  blocked_address: 'The host name resolves to an address that is not public. Nothing was sent.',
  dns: 'The host name could not be resolved.',
  refused: 'The server refused the connection: nothing listens at that address and port.',
  unreachable: 'There is no network route to the server.',
  reset: 'The server closed the connection before it responded.',
  tls: 'The TLS connection failed: the certificate is invalid, expired or for another name, or the versions do not match.',
  timeout: 'The server did not complete its response within 10 s.',
  too_large: 'The response was too large: more than 16 KB of headers, or no end of interim responses or chunk data.',
  bad_answer: 'The response was not valid HTTP.',
  stopped: 'Paymesh stopped during the request and will send it again.',
  network: 'The connection failed for an unknown reason.',
}

/** What an operator should know about an error status; other statuses are described by their family. */
const STATUSES: Readonly<Record<number, string>> = {
  401: 'unauthorized; webhooks never carry credentials',
  403: 'forbidden, perhaps by a firewall or bot filter',
  404: 'not found; check the path of the URL',
  405: 'method not allowed; the path does not accept POST',
  410: 'gone; deliveries continue until you delete the endpoint',
  413: 'body too large',
  429: 'too many requests; retries follow the normal schedule',
  502: 'bad gateway; the application behind a proxy did not respond',
  503: 'unavailable',
  504: 'gateway timeout; the application behind a proxy was too slow',
}

/** Explains the error code of a failed attempt in one sentence; unknown codes are shown as they are. */
export function explainFailure(error: string): string {
  if (Object.hasOwn(SENTENCES, error)) return SENTENCES[error as HttpFault]
  const status = Number(/^status_(\d{3})$/.exec(error)?.[1])
  if (Number.isNaN(status)) return `The attempt failed: ${error}.`
  return `The server returned ${status} (${STATUSES[status] ?? familyOf(status)}).`
}

function familyOf(status: number): string {
  if (status < 300) return 'not a final response'
  if (status < 400) return 'redirect, which Paymesh does not follow; enter the final URL'
  return status < 500 ? 'request rejected' : 'internal error'
}
