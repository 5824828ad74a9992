import { createHmac } from 'node:crypto'
import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import type { Clock } from '#shared/ports/runtime.ts'
import { signDelivery } from '#shared/usecases/deliveries/send.ts'
import { reasonOf } from './server-access.ts'

/** The response time limit of real deliveries (specification §6). */
const ANSWER_MS = 10_000

/** An event from the server's stream. `body` is the exact text that every delivery of it carries. */
export interface StreamedEvent {
  readonly id: string
  readonly type: string
  readonly body: string
}

/** The result: a status, no listening receiver, or a connection without a response. */
export type ForwardOutcome =
  | { readonly kind: 'answered'; readonly status: number; readonly durationMs: number }
  | { readonly kind: 'unreachable' | 'unanswered'; readonly reason: string }

/** Codes of Node for a handshake or a certificate that it refused. */
const TLS_REFUSED = /^(?:ERR_TLS_|ERR_SSL_|CERT_)/

/** True when TLS was refused, whichever side refused it. */
export function isTlsReason(reason: string): boolean {
  return TLS_REFUSED.test(reason) || /CERT|SIGNATURE|HOSTNAME|EPROTO/.test(reason)
}

/**
 * The secret for deliveries of `paymesh listen`: derived from the API key, so that it is the same for
 * every start with that key and need not be stored. It reveals nothing about the key.
 */
export function localSecret(apiKey: string): string {
  return `whsec_${createHmac('sha256', apiKey).update('paymesh listen').digest('base64')}`
}

interface Forward {
  readonly url: string
  /** `whd_…`: the same for every attempt of one delivery. */
  readonly deliveryId: string
  /** Takes any certificate of the receiver, for one that signed its own. */
  readonly skipVerify?: boolean
  readonly secret: string
  readonly clock?: Clock
  /** Ends a request without a response: that one counts as unanswered. */
  readonly stop?: AbortSignal
}

/** Posts an event to a receiver with the headers of real deliveries. */
export async function forwardEvent(
  event: StreamedEvent,
  { url, deliveryId, secret, clock = { now: Date.now }, skipVerify = false, stop }: Forward,
): Promise<ForwardOutcome> {
  const body = new TextEncoder().encode(event.body)
  const headers = signDelivery({
    deliveryId,
    eventId: event.id,
    eventType: event.type,
    body,
    timestampS: Math.floor(clock.now() / 1_000),
    secrets: [secret],
  })
  const startedAt = performance.now()
  const late = AbortSignal.timeout(ANSWER_MS)
  const signal = stop === undefined ? late : AbortSignal.any([late, stop])
  const isSecure = url.startsWith('https:')
  // Until it is open nothing was delivered, so a retry delivers nothing twice.
  let isOpen = false
  try {
    const status = await new Promise<number>((resolve, reject) => {
      const send = isSecure ? requestSecure : requestPlain
      const options = { method: 'POST', headers, signal, agent: false, rejectUnauthorized: !skipVerify } as const
      const request = send(url, options, (response) => {
        // What is wrong with the rest of an answer is no matter, and it is read so that the receiver may end it.
        response.on('error', () => undefined).resume()
        resolve(response.statusCode ?? 0)
      })
      request.on('error', reject)
      request.on('socket', (socket) => {
        socket.once(isSecure ? 'secureConnect' : 'connect', () => {
          isOpen = true
        })
      })
      request.end(body)
    })
    return { kind: 'answered', status, durationMs: Math.round(performance.now() - startedAt) }
  } catch (error) {
    return { kind: isOpen ? 'unanswered' : 'unreachable', reason: reasonOf(error) }
  }
}
