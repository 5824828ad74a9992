import type { AddressInfo } from 'node:net'
import type { StartService } from '#services/context.ts'
import { createKicker } from '#shared/queues/kicker.ts'
import { createApp } from './app.ts'
import { buildDeps } from './build-deps.ts'
import { createServer } from './create-server.ts'

/** Serves the REST interface on the configured host and port; stopping lets requests in flight finish. */
export const start: StartService = async (context) => {
  const kicker = createKicker(context.redis, context)
  const deps = buildDeps(context, kicker)
  context.redisEpoch?.onChange(deps.keyRing.forgetAll)
  const server = createServer(createApp(deps), context)
  const { host, port } = context.config.api
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  context.logger.info({ host: address.address, port: address.port }, 'api listens')
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeIdleConnections()
    await closed
    await deps.keyUse.close()
    await kicker.close()
  }
}
