import type { StartService } from '#services/context.ts'
import { prepareDrain } from '#shared/runtime/http/http-server.ts'
import { listenOn } from '#shared/runtime/http/listen-on.ts'
import { createApp, createServer } from './app.ts'
import { assembleApi } from './assemble.ts'
import { openApiParts } from './open-api-parts.ts'

/** Serves the REST API on the configured host and port; stopping lets requests in flight finish. */
export const start: StartService = async (context) => {
  const parts = openApiParts(context)
  const deps = assembleApi(parts)
  context.redisEpoch?.onChange(deps.keyRing.forgetAll)
  const server = createServer(createApp(deps), context)
  const drain = prepareDrain(server)
  const { host } = context.config.api
  const { address, port } = await listenOn(server, context.config.api.port, host)
  context.logger.info({ host: address, port }, 'api listens')
  return async () => {
    await drain.close({ cutAfterMs: null })
    await deps.keyUse.close()
    await parts.notifier.close()
  }
}
