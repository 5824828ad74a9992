import { createServer } from 'node:http'
import type { StartService } from '#services/context.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import { limitRequests, prepareDrain, REQUEST_LIMIT_OPTIONS } from '#shared/runtime/http/http-server.ts'
import { listenOn } from '#shared/runtime/http/listen-on.ts'
import { viewInvoice } from '#shared/usecases/invoices/view-invoice.ts'
import { createApp } from './app.ts'
import { assembleCheckout } from './assemble.ts'
import { createLiveFeed } from './live-feed.ts'
import { createLiveStreams } from './live-stream.ts'
import { openCheckoutParts } from './open-checkout-parts.ts'

/** Time for requests in flight when stopping. */
const STOP_GRACE_MS = 5_000

/** Serves the payers' pages; stopping ends live views, whose pages reconnect to another process, and lets requests in flight finish. */
export const start: StartService = async (context) => {
  const parts = openCheckoutParts(context)
  const deps = assembleCheckout(parts)
  const feed = createLiveFeed({
    ...deps,
    view: (id) => viewInvoice(deps, id),
    attend: (id) => deps.notifier.notify(QUEUES.scan, id),
  })
  const streams = createLiveStreams({ ...deps, feed })
  const server = createServer(REQUEST_LIMIT_OPTIONS, createApp(deps, streams))
  limitRequests(server)
  const drain = prepareDrain(server)
  const { address, port } = await listenOn(server, context.config.checkout.port, context.config.api.host)
  context.logger.info({ host: address, port }, 'checkout listens')
  return async () => {
    feed.close()
    streams.close()
    await drain.close({ cutAfterMs: STOP_GRACE_MS })
    await deps.nodes.close()
    await parts.notifier.close()
  }
}
