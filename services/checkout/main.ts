import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { StartService } from '#services/context.ts'
import { createKicker } from '#shared/queues/kicker.ts'
import { limitRequests, REQUEST_LIMIT_OPTIONS } from '#shared/runtime/http/request-limits.ts'
import { viewInvoice } from '#shared/usecases/invoices/view-invoice.ts'
import { createApp } from './app.ts'
import { buildCheckoutDeps } from './checkout-deps.ts'
import { createLiveFeed } from './live-feed.ts'
import { createLiveStreams } from './live-stream.ts'

/** Requests in flight get this long on stop. */
const STOP_GRACE_MS = 2_000

/** Serves the payers' pages; stopping ends live views, whose pages come back to another process, and lets requests in flight finish. */
export const start: StartService = async (context) => {
  const kicker = createKicker(context.redis, context)
  const deps = buildCheckoutDeps(context, kicker)
  const feed = createLiveFeed({ ...deps, view: (id) => viewInvoice(deps, id) })
  const streams = createLiveStreams({ ...deps, feed })
  const server = createServer(REQUEST_LIMIT_OPTIONS, createApp(deps, streams))
  limitRequests(server)
  const { host } = context.config.api
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(context.config.checkout.port, host, resolve)
  })
  const address = server.address() as AddressInfo
  context.logger.info({ host: address.address, port: address.port }, 'checkout listens')
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    feed.close()
    streams.close()
    server.closeIdleConnections()
    const cut = setTimeout(() => server.closeAllConnections(), STOP_GRACE_MS)
    await closed
    clearTimeout(cut)
    await deps.nodes.close()
    await kicker.close()
  }
}
