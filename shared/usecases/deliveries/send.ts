import { createHmac } from 'node:crypto'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import { retryDelayMs } from '#shared/domain/webhook/schedule.ts'
import { signatureHeader, signedText } from '#shared/domain/webhook/signature.ts'
import type { Delivery, DeliveryOutcome } from '#shared/ports/deliveries.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import type { HttpOut, HttpPhases, HttpResult } from '#shared/ports/webhook-http.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** One total deadline for name look-up, connect, TLS, headers and body (specification §6). */
const TIMEOUT_MS = 10_000
/** Bytes of a response that are read at most, and bytes of them that are stored. */
const READ_BYTES = 16_384
const KEEP_CHARS = 4_096

export type SendDeliveryDeps = Uses<'clock'> & {
  readonly http: HttpOut
  /** The server setting that allows `http://localhost:<port>` for endpoints that receive test events only. */
  readonly allowLocalhost: boolean
}

export interface ClaimedDelivery {
  readonly delivery: Delivery
  readonly event: EventRecord
  readonly endpoint: WebhookEndpoint
  /** Opened secrets, current first. */
  readonly secrets: readonly string[]
  readonly leaseToken: string
}

/** Outcome of one request; null when this process is stopping and cut the request off, which counts as not sent. */
export interface SentDelivery {
  readonly outcome: DeliveryOutcome
  readonly durationMs: number
}

/** Signs a claimed delivery with the current time and sends it once. Any 2xx is success; everything else is a failure, redirects included. */
export async function sendDelivery(deps: SendDeliveryDeps, claimed: ClaimedDelivery): Promise<SentDelivery | null> {
  const { delivery, event, endpoint } = claimed
  const at = deps.clock.now()
  const headers = signDelivery({
    deliveryId: delivery.id,
    eventId: event.id,
    eventType: event.type,
    body: event.body,
    timestampS: Math.floor(at / 1_000),
    secrets: claimed.secrets,
  })
  const result = await deps.http.post({
    url: endpoint.url,
    headers,
    body: event.body,
    timeoutMs: TIMEOUT_MS,
    maxResponseBytes: READ_BYTES,
    allowLocalhost: deps.allowLocalhost && endpoint.mode === 'test',
  })
  const error = faultOf(result)
  if (error === 'stopped') return null
  const number = delivery.attempt + 1
  const retryAfterMs = error === null ? null : retryDelayMs(number)
  return {
    outcome: {
      deliveryId: delivery.id,
      leaseToken: claimed.leaseToken,
      result: error === null ? 'succeeded' : retryAfterMs === null ? 'failed' : 'retry',
      retryAfterMs,
      attempt: {
        number,
        at,
        durationMs: Math.round(result.durationMs),
        statusCode: result.outcome === 'answered' ? result.status : null,
        error,
        ip: result.ip,
        phases: inWholeMs(result.phases),
        responseBody: result.outcome === 'answered' ? result.body.slice(0, KEEP_CHARS) : '',
      },
    },
    durationMs: result.durationMs,
  }
}

function faultOf(result: HttpResult): string | null {
  if (result.outcome === 'failed') return result.error
  return result.status >= 200 && result.status <= 299 ? null : `status_${result.status}`
}

function inWholeMs({ dnsMs, connectMs, tlsMs, firstByteMs }: HttpPhases): HttpPhases {
  const whole = (ms: number | null) => (ms === null ? null : Math.round(ms))
  return { dnsMs: whole(dnsMs), connectMs: whole(connectMs), tlsMs: whole(tlsMs), firstByteMs: whole(firstByteMs) }
}

/** Fixed agent string of every delivery (specification §6). */
const USER_AGENT = 'Paymesh-Webhooks/1.0'
const SECRET_PREFIX = 'whsec_'

export interface DeliveryToSign {
  /** `whd_…` */
  readonly deliveryId: string
  /** `evt_…` */
  readonly eventId: string
  readonly eventType: string
  /** The frozen bytes of the event, signed and sent unchanged. */
  readonly body: Uint8Array
  /** Unix seconds of this attempt; receivers refuse a time more than 300 s away from their own. */
  readonly timestampS: number
  /** Plain `whsec_…` secrets of the endpoint, current first; at least one. */
  readonly secrets: readonly string[]
}

/**
 * All headers of a delivery request: those of the specification, and those of Standard Webhooks 1.0, so that
 * both kinds of verifiers accept it. `X-Webhook-Signature` has one digest, by the current secret; older secrets of a
 * rotation sign the Standard Webhooks header only, which is a list by its specification. Throws without a secret.
 */
export function signDelivery(delivery: DeliveryToSign): Readonly<Record<string, string>> {
  const { deliveryId, eventId, eventType, body, timestampS, secrets } = delivery
  const [current] = secrets
  if (current === undefined) throw new Error('an endpoint without a secret cannot be signed for')
  const digest = createHmac('sha256', current).update(signedText(timestampS, body)).digest('hex')
  return {
    'Content-Type': 'application/json',
    'User-Agent': USER_AGENT,
    'X-Webhook-Id': deliveryId,
    'X-Webhook-Event': eventType,
    'X-Webhook-Timestamp': String(timestampS),
    'X-Webhook-Signature': signatureHeader(timestampS, digest),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': secrets.map((secret) => standardSignature(secret, eventId, timestampS, body)).join(' '),
  }
}

/** Standard Webhooks 1.0 §"Signature scheme": HMAC-SHA256 over `id.timestamp.body`, keyed with the bytes behind `whsec_`. */
function standardSignature(secret: string, id: string, timestampS: number, body: Uint8Array): string {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret
  const key = Buffer.from(text, 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestampS}.`).update(body).digest('base64')}`
}
