import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Admission } from '#shared/ports/rate-limit.ts'
import { RATE_LIMIT_PER_MINUTE } from '#shared/ports/rate-limit.ts'

/** Fields of a response besides the body. */
export interface Outgoing {
  readonly status: number
  readonly body: string
  readonly rate: Pick<Admission, 'remaining' | 'resetAt'>
  readonly extra: OutgoingHttpHeaders | null
}

/**
 * On every response: browsers use only the stated type (Fetch standard, `X-Content-Type-Options`), and only
 * TLS for a year (RFC 6797; browsers ignore it on responses without TLS). No link in a response passes its address on (Referrer Policy).
 */
export const HARDENED = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
} as const

/** Writes a response in one piece, with the rate headers that every response carries. */
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
