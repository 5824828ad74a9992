import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Admission } from '#shared/ports/rate-limit.ts'
import { RATE_LIMIT_PER_MINUTE } from '#shared/ports/rate-limit.ts'

/** What goes out besides the body. */
export interface Outgoing {
  readonly status: number
  readonly body: string
  readonly rate: Pick<Admission, 'remaining' | 'resetAt'>
  readonly extra: OutgoingHttpHeaders | null
}

/**
 * On every answer: no browser guesses another type than the one stated (Fetch standard, `X-Content-Type-Options`), and none
 * comes back without TLS for a year (RFC 6797; browsers ignore it where the answer came without TLS).
 */
export const HARDENED = {
  'X-Content-Type-Options': 'nosniff',
  'Strict-Transport-Security': 'max-age=31536000',
} as const

/** Writes an answer in one piece, with the rate headers that every answer carries. */
export function send(response: ServerResponse, { status, body, rate, extra }: Outgoing): void {
  if (response.headersSent || response.destroyed) return
  const headers: OutgoingHttpHeaders = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    ...HARDENED,
    'X-RateLimit-Limit': RATE_LIMIT_PER_MINUTE,
    'X-RateLimit-Remaining': rate.remaining,
    'X-RateLimit-Reset': rate.resetAt,
  }
  response.writeHead(status, extra === null ? headers : Object.assign(headers, extra))
  response.end(body)
}
