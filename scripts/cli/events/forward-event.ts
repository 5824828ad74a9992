import { createHmac, randomUUID } from 'node:crypto'
import type { Clock } from '#shared/ports/runtime.ts'
import { signDelivery } from '#shared/usecases/deliveries/send.ts'
import { deliveryId } from '#shared/usecases/outbox/relay-records.ts'
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

/** Why a connection could not be opened at all: nothing was delivered, so a retry delivers nothing twice. */
const UNREACHABLE: readonly string[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]

/**
 * The secret for deliveries of `paymesh listen`: derived from the API key, so that it is the same for
 * every start with that key and need not be stored. It reveals nothing about the key.
 */
export function localSecret(apiKey: string): string {
  return `whsec_${createHmac('sha256', apiKey).update('paymesh listen').digest('base64')}`
}

interface Forward {
  readonly url: string
  readonly secret: string
  readonly clock?: Clock
  /** Ends a request without a response: that one counts as unanswered. */
  readonly stop?: AbortSignal
}

/** Posts an event to a receiver as a separate delivery, with the headers of real deliveries. */
export async function forwardEvent(
  event: StreamedEvent,
  { url, secret, clock = { now: Date.now }, stop }: Forward,
): Promise<ForwardOutcome> {
  const body = new TextEncoder().encode(event.body)
  const headers = signDelivery({
    deliveryId: deliveryId(event.id, randomUUID(), 0),
    eventId: event.id,
    eventType: event.type,
    body,
    timestampS: Math.floor(clock.now() / 1_000),
    secrets: [secret],
  })
  const startedAt = performance.now()
  try {
    const late = AbortSignal.timeout(ANSWER_MS)
    const signal = stop === undefined ? late : AbortSignal.any([late, stop])
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    await response.body?.cancel()
    return { kind: 'answered', status: response.status, durationMs: Math.round(performance.now() - startedAt) }
  } catch (error) {
    const reason = reasonOf(error)
    return { kind: UNREACHABLE.includes(reason) ? 'unreachable' : 'unanswered', reason }
  }
}
