import { createHmac } from 'node:crypto'
import { signatureHeader, signedText } from '#shared/domain/webhook/signature.ts'

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
