import express, { type Express } from 'express'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { compressAnswers } from '#shared/runtime/http/http-server.ts'
import { errorHandler, limitReads } from './answers.ts'
import type { CheckoutDeps } from './checkout-deps.ts'
import { invoiceRoutes } from './invoice-routes.ts'
import { admit, LIMITS } from './limits.ts'
import { linkRoutes } from './link-routes.ts'
import type { LiveStreams } from './live-stream.ts'
import { logoRoutes } from './logo-routes.ts'
import { servePages } from './pages.ts'
import { refundRoutes } from './refund-routes.ts'

/** The largest body is a payment link's amount. */
const BODY_BYTES_MAX = 4_096
/** Smaller responses gain nothing: they fit into one packet. */
const COMPRESS_FROM_BYTES = 1_024

/** The payers' pages and their API, on one origin. Does not start listening. */
export function createApp(deps: CheckoutDeps, streams: LiveStreams): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use((_request, response, next) => {
    response.set({
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
      'Strict-Transport-Security': 'max-age=31536000',
      'X-Robots-Tag': 'noindex',
    })
    next()
  })
  app.use('/api', (_request, response, next) => {
    response.set({ 'Cache-Control': 'no-store', 'Content-Security-Policy': "default-src 'none'" })
    next()
  })
  app.use('/api', compressAnswers(COMPRESS_FROM_BYTES), limitReads)
  app.post('/api/{*path}', (request, _response, next) => {
    admit(deps, request, LIMITS.post).then(() => next(), next)
  })
  app.use('/api', express.json({ limit: BODY_BYTES_MAX }))
  app.use('/api/i', invoiceRoutes(deps, streams))
  app.use('/api/l', linkRoutes(deps))
  app.use('/api/r', refundRoutes(deps))
  app.use('/api', () => {
    throw new PaymeshError('NOT_FOUND')
  })
  app.use('/logo', logoRoutes(deps))
  // Before the pages, whose errors are documents.
  app.use(['/api', '/logo'], errorHandler(deps.logger))
  servePages(app, deps)
  return app
}
