import { createHmac, timingSafeEqual } from 'node:crypto'
import type { WebhookEvent } from './types.ts'

/** How far the sender's clock may differ from ours, in seconds, to either side. */
const TOLERANCE_S = 300

/** Unix seconds and the hex HMAC-SHA256, the only form that is sent; the other clients take the same. */
const SIGNATURE = /^t=([0-9]{1,12}),v1=([0-9a-f]{64})$/

/**
 * Why a request was rejected. `missing_signature`: no header; `malformed_signature`: not of the documented form;
 * `signature_mismatch`: another body, another secret or another sender; `timestamp_out_of_range`: signed too long ago
 * (a replay?) or in the future; `malformed_event`: validly signed, but not an event.
 */
export type WebhookFault =
  | 'missing_signature'
  | 'malformed_signature'
  | 'signature_mismatch'
  | 'timestamp_out_of_range'
  | 'malformed_event'

/** The request must not be trusted: respond with 400 and do nothing else. */
export class PaymeshWebhookError extends Error {
  readonly reason: WebhookFault

  constructor(reason: WebhookFault) {
    super(`the webhook was refused: ${reason}`)
    this.name = 'PaymeshWebhookError'
    this.reason = reason
  }
}

/** Settings of a verification. */
export interface VerifyWebhookOptions {
  /** Seconds that the signature's time may differ from the clock, to either side. Default 300. */
  readonly toleranceS?: number
  /** Unix milliseconds; for tests. Default `Date.now`. */
  readonly now?: () => number
}

/**
 * The event of a delivery that was verifiably sent by Paymesh: its `X-Webhook-Signature` is an HMAC-SHA256 over
 * `<t>.<raw body>` under the endpoint's secret, not older or newer than 300 s. The digest is compared in constant time
 * and before the time, so that the response reveals nothing to a forger.
 *
 * `rawBody` must be the bytes as received, before any JSON parser; a parsed and re-serialised body does not verify.
 * `secret` may be a list while an endpoint is being replaced. Throws `PaymeshWebhookError` when the request must not
 * be trusted and `TypeError` for wrong use. Deliveries may come twice or out of order: deduplicate by `event.id`.
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  signatureHeader: string | readonly string[] | null | undefined,
  secret: string | readonly string[],
  options: VerifyWebhookOptions = {},
): WebhookEvent {
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array))
    throw new TypeError('rawBody must be the raw request body as string or bytes, not a parsed object')
  const secrets = knownSecrets(secret)
  const { toleranceS = TOLERANCE_S } = options
  // A limit that is not a number would accept every time.
  if (!Number.isFinite(toleranceS) || toleranceS < 0)
    throw new TypeError('toleranceS must be a number of seconds from 0')
  const header = typeof signatureHeader === 'string' ? signatureHeader : signatureHeader?.join()
  if (!header) throw new PaymeshWebhookError('missing_signature')
  const [, t, digest = ''] = SIGNATURE.exec(header) ?? []
  if (t === undefined) throw new PaymeshWebhookError('malformed_signature')
  const body = typeof rawBody === 'string' ? Buffer.from(rawBody, 'utf8') : rawBody
  const digests = secrets.map((each) => createHmac('sha256', each).update(`${t}.`).update(body).digest())
  if (!digests.some((own) => timingSafeEqual(own, Buffer.from(digest, 'hex'))))
    throw new PaymeshWebhookError('signature_mismatch')
  const nowS = Math.floor((options.now ?? Date.now)() / 1_000)
  // Written this way round, a clock that returns no number refuses.
  if (!(Math.abs(nowS - Number(t)) <= toleranceS)) throw new PaymeshWebhookError('timestamp_out_of_range')
  return readEvent(body)
}

/** The secrets as a list. Throws `TypeError` where one is missing: an HMAC under an empty key can be forged by anyone. */
export function knownSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (!Array.isArray(secrets) || secrets.length === 0 || !secrets.every((each) => typeof each === 'string' && each))
    throw new TypeError('secret must be the whsec_… secret of the endpoint')
  return secrets
}

/** Refuses other encodings and a byte order mark, which no delivery has. */
const EXACT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function readEvent(body: Uint8Array): WebhookEvent {
  let value: unknown
  try {
    value = JSON.parse(EXACT_UTF8.decode(body))
  } catch {
    throw new PaymeshWebhookError('malformed_event')
  }
  const event = value as Partial<WebhookEvent> | null
  const named = event?.object === 'event' && typeof event.id === 'string' && typeof event.type === 'string'
  if (!named || typeof event.data?.object !== 'object' || event.data.object === null)
    throw new PaymeshWebhookError('malformed_event')
  return event as WebhookEvent
}
