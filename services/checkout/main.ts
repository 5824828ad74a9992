import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { StartService } from '#services/context.ts'
import { createApp } from './app.ts'

/** Serves the payers' pages; stopping lets requests in flight finish. */
export const start: StartService = async (context) => {
  const server = createServer(createApp(context))
  const { host } = context.config.api
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(context.config.checkout.port, host, resolve)
  })
  const address = server.address() as AddressInfo
  context.logger.info({ host: address.address, port: address.port }, 'checkout listens')
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeIdleConnections()
    await closed
  }
}
