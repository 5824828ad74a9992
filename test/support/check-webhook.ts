import type { IncomingHttpHeaders } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { PaymeshWebhookError, verifyWebhook, type WebhookFault } from '#clients/typescript/src/main.ts'

/** A request as a receiver sees it. */
export interface SignedRequest {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** What a merchant who uses our client says of a request at `nowMs`; anything but `valid` is answered with 400. */
export function checkWebhook(request: SignedRequest, secret: string, nowMs: number): 'valid' | WebhookFault {
  try {
    verifyWebhook(request.body, request.headers['x-webhook-signature'], secret, { now: () => nowMs })
    return 'valid'
  } catch (error) {
    if (error instanceof PaymeshWebhookError) return error.reason
    throw error
  }
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
