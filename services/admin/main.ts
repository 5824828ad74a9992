import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { StartService } from '#services/context.ts'
import { createKicker } from '#shared/queues/kicker.ts'
import { observeRequests } from '#shared/runtime/http/observe-requests.ts'
import { limitRequests, REQUEST_LIMIT_OPTIONS } from '#shared/runtime/http/request-limits.ts'
import { buildAdminDeps } from './admin-deps.ts'
import { createApp } from './app.ts'

/** Serves the operators' interface and the dashboard that uses it; stopping lets requests in flight finish and ends live views. */
export const start: StartService = async (context) => {
  const kicker = createKicker(context.redis, context)
  const deps = buildAdminDeps(context, kicker)
  const server = createServer(REQUEST_LIMIT_OPTIONS, createApp(deps))
  limitRequests(server)
  observeRequests(server, context.metrics, ['/trpc', '/assets'])
  const { port } = context.config.admin
  const { host } = context.config.api
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  context.logger.info({ host: address.address, port: address.port }, 'admin listens')
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeIdleConnections()
    // Live views stay open for minutes; their pages come back to another process.
    const cut = setTimeout(() => server.closeAllConnections(), STOP_GRACE_MS)
    await closed
    clearTimeout(cut)
    await deps.live.close()
    await kicker.close()
  }
}

/** Requests in flight get this long on stop. */
const STOP_GRACE_MS = 1_000
