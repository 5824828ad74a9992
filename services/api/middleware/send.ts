import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Admission } from '#shared/usecases/ports/rate-limit.ts'
import { RATE_LIMIT_PER_MINUTE } from '#shared/usecases/ports/rate-limit.ts'

/** What goes out besides the body. */
export interface Outgoing {
  readonly status: number
  readonly body: string
  readonly rate: Pick<Admission, 'remaining' | 'resetAt'>
  readonly extra: OutgoingHttpHeaders | null
}

/** Writes an answer in one piece, with the rate headers that every answer carries. */
export function send(response: ServerResponse, { status, body, rate, extra }: Outgoing): void {
  if (response.headersSent || response.destroyed) return
  const headers: OutgoingHttpHeaders = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-RateLimit-Limit': RATE_LIMIT_PER_MINUTE,
    'X-RateLimit-Remaining': rate.remaining,
    'X-RateLimit-Reset': rate.resetAt,
  }
  response.writeHead(status, extra === null ? headers : Object.assign(headers, extra))
  response.end(body)
}
