import { createServer } from 'node:http'
import type { StartService } from '#services/context.ts'
import {
  limitRequests,
  observeRequests,
  prepareDrain,
  REQUEST_LIMIT_OPTIONS,
} from '#shared/runtime/http/http-server.ts'
import { listenOn } from '#shared/runtime/http/listen-on.ts'
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
  const { address, port } = await listenOn(server, context.config.admin.port, context.config.api.host)
  context.logger.info({ host: address, port }, 'admin listens')
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
