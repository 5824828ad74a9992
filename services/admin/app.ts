import { join } from 'node:path'
import { createExpressMiddleware } from '@trpc/server/adapters/express'
import express, { type Express, type Request, type Response } from 'express'
import type { AdminDeps } from './admin-deps.ts'
import { appRouter } from './app-router.ts'
import { exportInvoicesRoute } from './export-invoices.ts'
import { exportPaymentsRoute } from './export-payments.ts'
import { createContextReader } from './request-context.ts'

/** At most so many calls in one request, and so many bytes. */
const BATCH_MAX = 10
const BODY_BYTES_MAX = 1_048_576
/** Styles of the component library are set on elements at run time; scripts come from files of ours alone. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
  // The one policy of the page; it lets through text without markup (services/dashboard/src/markup-policy.ts).
  'trusted-types default',
].join('; ')

const PERMISSIONS = [
  'accelerometer',
  'autoplay',
  'camera',
  'display-capture',
  'geolocation',
  'gyroscope',
  'hid',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'screen-wake-lock',
  'serial',
  'usb',
]
  .map((feature) => `${feature}=()`)
  .join(', ')

/** The operators' interface under `/trpc` and the dashboard for every other path. It does not listen yet. */
export function createApp(deps: AdminDeps): Express {
  const app = express()
  app.disable('x-powered-by')
  app.use((_request, response, next) => {
    response.set({
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      // The clipboard is all that the dashboard asks a browser for.
      'Permissions-Policy': PERMISSIONS,
      'Strict-Transport-Security': 'max-age=31536000',
    })
    next()
  })
  app.use(
    '/trpc',
    refuseForeignOrigin(deps),
    refuseInputInUrl,
    createExpressMiddleware({
      router: appRouter,
      createContext: createContextReader(deps),
      allowMethodOverride: true,
      maxBatchSize: BATCH_MAX,
      maxBodySize: BODY_BYTES_MAX,
      responseMeta: () => ({ headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no' } }),
    }),
  )
  app.get('/export/payments.csv', exportPaymentsRoute(deps))
  app.get('/export/invoices.csv', exportInvoicesRoute(deps))
  servePages(app, deps)
  return app
}

/** A page of another origin cannot make a browser of ours act (cross-site request forgery): browsers name the origin of every POST. */
function refuseForeignOrigin({ config }: AdminDeps) {
  return (request: Request, response: Response, next: () => void) => {
    const { origin } = request.headers
    const own =
      origin === undefined ? request.headers['sec-fetch-site'] !== 'cross-site' : origin === config.admin.publicUrl
    if (request.method === 'GET' || own) next()
    else response.status(403).json({ error: { message: 'This origin may not change anything here.' } })
  }
}

/**
 * URLs end up in logs of proxies and in histories, so what is asked travels in bodies. Live views are the exception, because
 * browsers can only open them with GET: they name a workspace, an entry and a place, and no person.
 */
function refuseInputInUrl(request: Request, response: Response, next: () => void): void {
  const isLive = request.headers.accept?.includes('text/event-stream') === true
  if (isLive || request.query['input'] === undefined) next()
  else {
    const error = {
      message: 'Inputs travel in the body of a POST.',
      data: { code: 'METHOD_NOT_SUPPORTED', path: null },
    }
    response.status(405).set('Allow', 'POST').json({ error })
  }
}

function servePages(app: Express, { config }: AdminDeps): void {
  if (config.pagesDir === null) {
    app.use(
      (_request, response) =>
        void response.status(503).type('text').send('The dashboard was not built: PAYMESH_PAGES_DIR is not set.'),
    )
    return
  }
  const folder = join(config.pagesDir, 'dashboard')
  app.use(
    '/assets',
    express.static(join(folder, 'assets'), { immutable: true, maxAge: '1y', index: false }),
    (_request, response) => void response.status(404).end(),
  )
  app.use((request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return void response.status(405).set('Allow', 'GET, HEAD').end()
    response.set({ 'Content-Security-Policy': PAGE_POLICY, 'Cache-Control': 'no-cache' })
    // With a root, or a folder above whose name begins with a dot would be taken for a hidden file.
    response.sendFile('index.html', { root: folder })
  })
}
