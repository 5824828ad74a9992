import type { Server, ServerOptions } from 'node:http'

/** A client gets this long to send a whole request. */
const REQUEST_TIMEOUT_MS = 30_000
const HEADERS_TIMEOUT_MS = 10_000
/** Above the usual 60 s of load balancers, so that they and not we close idle connections. */
const KEEP_ALIVE_MS = 65_000

/** For `http.createServer`: how late the limits may be kept, in milliseconds; Node looks every 30 s by default. */
export const REQUEST_LIMIT_OPTIONS: Pick<ServerOptions, 'connectionsCheckingInterval'> = {
  connectionsCheckingInterval: 2_000,
}

/** Bounds how long a client may take to send a request: 10 s for its headers, 30 s in all. Answers may stream for longer. */
export function limitRequests(server: Server): void {
  server.requestTimeout = REQUEST_TIMEOUT_MS
  server.headersTimeout = HEADERS_TIMEOUT_MS
  server.keepAliveTimeout = KEEP_ALIVE_MS
}
