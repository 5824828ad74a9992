import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** How long an idle connection may still bring a request before it is closed. */
const IDLE_GRACE_MS = 1_000
const POLL_EVERY_MS = 50

/**
 * Prepares a server for an end that loses no request. `server.close()` alone closes idle connections at once, on which a request may be
 * on its way, and lets a busy client go on with its connection until the process ends in the middle of a response. A response with
 * `Connection: close` tells the client to use another one (RFC 9112 §9.6). Call it before the server listens.
 */
export function prepareDrain(server: Server) {
  const answering = new Set<ServerResponse>()
  let isClosing = false
  server.prependListener('request', (_request, response) => {
    if (isClosing) response.shouldKeepAlive = false
    answering.add(response)
    response.once('close', () => answering.delete(response))
  })
  return {
    /**
     * Takes no new connection, answers every request that arrives on an open one with `Connection: close`, and closes connections that
     * stay idle for a second. Resolves when none is left. What is still open after `cutAfterMs` is cut; null never cuts.
     */
    close: async ({ cutAfterMs }: { readonly cutAfterMs: number | null }): Promise<void> => {
      isClosing = true
      for (const response of answering) if (!response.headersSent) response.shouldKeepAlive = false
      let isClosed = false
      // The HTTP server's own `close` would close idle connections now.
      const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve())).then(
        () => {
          isClosed = true
        },
      )
      const cut = cutAfterMs === null ? undefined : setTimeout(() => server.closeAllConnections(), cutAfterMs)
      await Promise.race([closed, delay(IDLE_GRACE_MS)])
      // A response that had begun before keeps its connection, which is idle after it.
      for (; !isClosed; await Promise.race([closed, delay(POLL_EVERY_MS)])) server.closeIdleConnections()
      clearTimeout(cut)
    },
  }
}
