import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { StartService } from '#services/context.ts'
import {
  limitRequests,
  observeRequests,
  prepareDrain,
  REQUEST_LIMIT_OPTIONS,
} from '#shared/runtime/http/http-server.ts'
import { createApp } from './app.ts'
import { assembleAdmin } from './assemble.ts'
import { openAdminParts } from './open-admin-parts.ts'

/** Serves the dashboard and its API; stopping lets requests in flight finish and ends live views. */
export const start: StartService = async (context) => {
  const parts = openAdminParts(context)
  const deps = assembleAdmin(parts)
  const server = createServer(REQUEST_LIMIT_OPTIONS, createApp(deps))
  limitRequests(server)
  const drain = prepareDrain(server)
  observeRequests(server, context.metrics, ['/trpc', '/assets', '/listen'])
  const { port } = context.config.admin
  const { host } = context.config.api
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  context.logger.info({ host: address.address, port: address.port }, 'admin listens')
  return async () => {
    // Live views stay open for minutes; their pages reconnect to another process.
    await drain.close({ cutAfterMs: STOP_GRACE_MS })
    await deps.live.close()
    await deps.listen.hub.close()
    await deps.listen.keyUse.close()
    await parts.notifier.close()
  }
}

/** Time for requests in flight when stopping. */
const STOP_GRACE_MS = 2_000
