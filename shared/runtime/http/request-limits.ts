import type { Server, ServerOptions } from 'node:http'

/** A client gets this long to send a whole request. */
const REQUEST_TIMEOUT_MS = 30_000
const HEADERS_TIMEOUT_MS = 10_000
/** Above the usual 60 s of load balancers, so that they close idle connections first. */
const KEEP_ALIVE_MS = 65_000

/** For `http.createServer`: the check interval of the limits, in milliseconds; 30 s by default in Node. */
export const REQUEST_LIMIT_OPTIONS: Pick<ServerOptions, 'connectionsCheckingInterval'> = {
  connectionsCheckingInterval: 2_000,
}

/** Limits how long a client may take to send a request: 10 s for its headers, 30 s in all. Responses may stream for longer. */
export function limitRequests(server: Server): void {
  server.requestTimeout = REQUEST_TIMEOUT_MS
  server.headersTimeout = HEADERS_TIMEOUT_MS
  server.keepAliveTimeout = KEEP_ALIVE_MS
}
