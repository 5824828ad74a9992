import { join } from 'node:path'
import { createExpressMiddleware } from '@trpc/server/adapters/express'
import type { Express, NextFunction, Request, Response } from 'express'
import express from 'express'
import { z } from 'zod'
import { builtAssets } from '#shared/runtime/http/built-assets.ts'
import { compressAnswers } from '#shared/runtime/http/http-server.ts'
import { operatorSearch } from '#shared/usecases/diagnostics/operator-search.ts'
import { operatorPaymentSearch } from '#shared/usecases/diagnostics/payment-search.ts'
import { exportInvoices } from '#shared/usecases/reports/export-invoices.ts'
import { exportLedger } from '#shared/usecases/reports/export-ledger.ts'
import { exportPayments } from '#shared/usecases/reports/export-payments.ts'
import { exportSettlements } from '#shared/usecases/reports/export-settlements.ts'
import { LEDGER_PROFILES } from '#shared/usecases/reports/ledger-profiles.ts'
import { appRouter } from './app-router.ts'
import type { AdminDeps } from './assemble.ts'
import { exportRoute, INVALID_EXPORT, refuse } from './export-route.ts'
import { addListenRoutes } from './listen/listen-routes.ts'
import { createPagePreloads } from './page-preloads.ts'
import { createContextReader } from './request-context.ts'
import { invoiceFilters, paymentFilters, periodFilters, periodOf } from './wire/list-filters.ts'

/** Maximum calls in one request, and maximum bytes. */
const BATCH_MAX = 10
const BODY_BYTES_MAX = 1_048_576
/** Smaller responses gain nothing: they fit into one packet. */
const COMPRESS_FROM_BYTES = 1_024
/** The filters of an export, bytes. */
const FORM_BYTES_MAX = 8_192
/** The component library sets styles on elements at run time; scripts come only from our own files. */
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
  // The page's only policy; it accepts text without markup (services/dashboard/src/markup-policy.ts).
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

/**
 * The dashboard API under `/trpc`, streams of events for merchants' programs under `/listen`, and the dashboard for every
 * other path. Does not start listening.
 */
export function createApp(deps: AdminDeps): Express {
  const app = express()
  app.disable('x-powered-by')
  app.use((_request, response, next) => {
    response.set({
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      // The clipboard is the only browser permission that the dashboard uses.
      'Permissions-Policy': PERMISSIONS,
      'Strict-Transport-Security': 'max-age=31536000',
    })
    next()
  })
  app.use(
    '/trpc',
    refuseForeignOrigin(deps),
    refuseInputInUrl,
    compressAnswers(COMPRESS_FROM_BYTES),
    createExpressMiddleware({
      router: appRouter,
      createContext: createContextReader(deps),
      allowMethodOverride: true,
      maxBatchSize: BATCH_MAX,
      maxBodySize: BODY_BYTES_MAX,
      responseMeta: () => ({ headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no' } }),
    }),
  )
  app.use(
    '/export',
    refuseForeignOrigin(deps),
    // As text: Express' own reader of forms drops a field called `__proto__`.
    express.text({ type: 'application/x-www-form-urlencoded', limit: FORM_BYTES_MAX }),
    refuseUnreadableForm,
  )
  app.post('/export/payments.csv', exportPaymentsRoute(deps))
  app.post('/export/invoices.csv', exportInvoicesRoute(deps))
  app.post('/export/ledger.csv', exportLedgerRoute(deps))
  app.post('/export/settlements.csv', exportSettlementsRoute(deps))
  app.use('/export', (_request, response) => {
    response
      .status(405)
      .set('Allow', 'POST')
      .type('text')
      .send('Exports take the fields of a form: reload the dashboard.')
  })
  addListenRoutes(app, deps)
  servePages(app, deps)
  return app
}

/** Prevents cross-site request forgery by pages of another origin: browsers send the origin of every POST. */
function refuseForeignOrigin({ config }: AdminDeps) {
  return (request: Request, response: Response, next: () => void) => {
    const { origin } = request.headers
    const own =
      origin === undefined ? request.headers['sec-fetch-site'] !== 'cross-site' : origin === config.admin.publicUrl
    if (request.method === 'GET' || own) next()
    else response.status(403).json({ error: { message: 'Changes from this origin are not allowed.' } })
  }
}

/** A form that is too large or cannot be decoded is answered in a sentence; Express would answer with a stack trace. */
function refuseUnreadableForm(error: unknown, _request: Request, response: Response, next: NextFunction): void {
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500
  if (status >= 500) next(error)
  else refuse(response, status, INVALID_EXPORT)
}

/**
 * URLs end up in proxy logs and in histories, so inputs are sent in bodies. Live views are the exception, because
 * browsers can only open them with GET: they contain a workspace, an entry and a position, and no person.
 */
function refuseInputInUrl(request: Request, response: Response, next: () => void): void {
  const isLive = request.headers.accept?.includes('text/event-stream') === true
  if (isLive || request.query['input'] === undefined) next()
  else {
    const error = {
      message: 'Send inputs in the body of a POST.',
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
  const preloadsOf = createPagePreloads(folder)
  app.use('/assets', builtAssets(join(folder, 'assets')), noSuchFile)
  app.use((request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return void response.status(405).set('Allow', 'GET, HEAD').end()
    response.set({ 'Content-Security-Policy': PAGE_POLICY, 'Cache-Control': 'no-cache' })
    const preloads = preloadsOf(request.path)
    if (preloads !== null) response.set('Link', preloads)
    // With a root; otherwise a parent folder whose name begins with a dot would be treated as a hidden file.
    response.sendFile('index.html', { root: folder })
  })
}

/** A page from before an upgrade requests files that the upgrade replaced; the page offers to be loaded again. */
function noSuchFile(_request: Request, response: Response): void {
  response.status(404).set('Cache-Control', 'no-store').end()
}

/** `POST /export/payments.csv`: the payments that the list shows under the same filters, oldest first. */
export const exportPaymentsRoute = (deps: AdminDeps) =>
  exportRoute(deps, {
    what: 'payments',
    filters: paymentFilters,
    lines: async function* ({ q, by, from, to, ...asked }, onRows, { reportingCurrency }) {
      const search = q === '' ? null : await operatorPaymentSearch(deps.money, { ...asked, text: q })
      const query = { ...asked, ...periodOf({ by, from, to }), search }
      yield* exportPayments({ ...deps.money, reportingCurrency }, query, onRows)
    },
  })

/** `POST /export/ledger.csv`: every movement of money, oldest first, in all columns or in those of an importer. */
const exportLedgerRoute = (deps: AdminDeps) =>
  exportRoute(deps, {
    what: 'ledger',
    filters: { ...periodFilters, profile: z.enum(LEDGER_PROFILES).nullable().default(null) },
    lines: (asked, onRows, { reportingCurrency, zone }) =>
      exportLedger({ ...deps.money, reportingCurrency }, { ...asked, zone }, onRows),
  })

/** `POST /export/settlements.csv`: what each wallet received of each coin on each day, newest first. */
const exportSettlementsRoute = (deps: AdminDeps) =>
  exportRoute(deps, {
    what: 'settlements',
    filters: periodFilters,
    lines: (asked, onRows, { zone }) => exportSettlements(deps.money, { ...asked, zone }, onRows),
  })

/** `POST /export/invoices.csv`: the invoices that the list shows under the same filters, paid or not, newest first. */
const exportInvoicesRoute = (deps: AdminDeps) =>
  exportRoute(deps, {
    what: 'invoices',
    filters: invoiceFilters,
    lines: async function* ({ q, by, from, to, ...asked }, onRows, { reportingCurrency }) {
      const search = q === '' ? null : await operatorSearch(deps.money, { ...asked, text: q })
      const query = { ...asked, ...periodOf({ by, from, to }), search }
      yield* exportInvoices({ ...deps.money, reportingCurrency }, query, onRows)
    },
  })
