import type { IncomingMessage, Server } from 'node:http'
import type { Metrics } from '#shared/ports/runtime.ts'

/** Fields that Express sets on a routed request. */
interface RoutedRequest extends IncomingMessage {
  readonly baseUrl?: string
  readonly route?: { readonly path?: unknown }
}

/**
 * Counts and times every request of a server under its route template; unrouted requests count as `other` with a prefix, so that
 * clients cannot create labels. Live streams are left out: they last as long as a viewer. A request whose client
 * disconnected has status `aborted`.
 */
export function observeRequests(server: Server, metrics: Metrics, other: readonly `/${string}`[] = []): void {
  server.prependListener('request', (request: RoutedRequest, response) => {
    const startedAt = performance.now()
    response.once('close', () => {
      if (String(response.getHeader('content-type') ?? '').startsWith('text/event-stream')) return
      const operation = `${request.method} ${templateOf(request, other)}`
      const status = response.writableFinished ? String(response.statusCode) : 'aborted'
      metrics.observe('http_request_seconds', (performance.now() - startedAt) / 1_000, { operation, status })
    })
  })
}

function templateOf(request: RoutedRequest, prefixes: readonly string[]): string {
  if (typeof request.route?.path === 'string') return `${request.baseUrl ?? ''}${request.route.path}`
  const url = request.url ?? ''
  return prefixes.find((prefix) => url.startsWith(prefix)) ?? 'other'
}
