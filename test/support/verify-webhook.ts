import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { verifySignature } from '#shared/domain/webhook/signature.ts'

/** What a receiver's verifier says; anything but `valid` must be answered with 400. */
export type WebhookVerdict = 'valid' | 'malformed' | 'mismatch' | 'outdated'

/** A request as a receiver sees it. */
export interface SignedRequest {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Judges `X-Webhook-Signature` as a merchant does: raw bytes, constant time, ± 300 s around `nowMs`. */
export function verifyWebhook(request: SignedRequest, secret: string, nowMs: number): WebhookVerdict {
  const header = request.headers['x-webhook-signature']
  if (typeof header !== 'string') return 'malformed'
  return verifySignature({
    header,
    body: request.body,
    nowSeconds: Math.floor(nowMs / 1_000),
    hmacHex: (text) => createHmac('sha256', secret).update(text).digest('hex'),
  })
}

/** True when the published Standard Webhooks library accepts the request by its own clock. */
export function verifyStandardWebhook(request: SignedRequest, secret: string): boolean {
  const header = (name: string): string => String(request.headers[name] ?? '')
  try {
    new Webhook(secret).verify(request.body, {
      'webhook-id': header('webhook-id'),
      'webhook-timestamp': header('webhook-timestamp'),
      'webhook-signature': header('webhook-signature'),
    })
    return true
  } catch {
    return false
  }
}
