import type { Ms } from '#shared/domain/invoice/model.ts'
import { WEBHOOK_RETRY_DELAYS_MS } from '#shared/domain/webhook/schedule.ts'
import type { Delivery, DeliveryAttempt } from '#shared/ports/deliveries.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { explainFailure } from './explain-failure.ts'
import { signDelivery } from './sign-delivery.ts'

/** Longest part of an event's body that is shown, in characters. */
const BODY_MAX = 65_536
/** Not a real secret: only the names of the headers are used. */
const NO_SECRET = 'whsec_AAAA'

/** Dependencies of describing a delivery. */
export type DescribeDeliveryDeps = Uses<'deliveries' | 'endpoints' | 'events'>

/** One scheduled attempt that is still to come. */
export interface FutureAttempt {
  readonly number: number
  /** Null while unknown: the previous attempt is being sent, or the endpoint is paused. */
  readonly at: Ms | null
  /** The pause before it, in milliseconds. */
  readonly delayMs: Ms
}

/** Everything shown about a delivery. */
export interface DescribedDelivery {
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
export function futureOf(delivery: Pick<Delivery, 'status' | 'attempt' | 'dueAt' | 'leaseToken'>): FutureAttempt[] {
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
