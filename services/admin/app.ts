import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createExpressMiddleware } from '@trpc/server/adapters/express'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
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
  // The page's only policy; it accepts text without markup (services/dashboard/src/allow-text-only.ts).
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
    lines: async function* ({ q, by, from, to, ...filters }, onRows, { reportingCurrency }) {
      const search = q === '' ? null : await operatorPaymentSearch(deps.money, { ...filters, text: q })
      const query = { ...filters, ...periodOf({ by, from, to }), search }
      yield* exportPayments({ ...deps.money, reportingCurrency }, query, onRows)
    },
  })

/** `POST /export/ledger.csv`: every movement of money, oldest first, in all columns or in those of an importer. */
const exportLedgerRoute = (deps: AdminDeps) =>
  exportRoute(deps, {
    what: 'ledger',
    filters: { ...periodFilters, profile: z.enum(LEDGER_PROFILES).nullable().default(null) },
    lines: (filters, onRows, { reportingCurrency, zone }) =>
      exportLedger({ ...deps.money, reportingCurrency }, { ...filters, zone }, onRows),
  })

/** `POST /export/settlements.csv`: what each wallet received of each coin on each day, newest first. */
const exportSettlementsRoute = (deps: AdminDeps) =>
  exportRoute(deps, {
    what: 'settlements',
    filters: periodFilters,
    lines: (filters, onRows, { zone }) => exportSettlements(deps.money, { ...filters, zone }, onRows),
  })

/** `POST /export/invoices.csv`: the invoices that the list shows under the same filters, paid or not, newest first. */
const exportInvoicesRoute = (deps: AdminDeps) =>
  exportRoute(deps, {
    what: 'invoices',
    filters: invoiceFilters,
    lines: async function* ({ q, by, from, to, ...filters }, onRows, { reportingCurrency }) {
      const search = q === '' ? null : await operatorSearch(deps.money, { ...filters, text: q })
      const query = { ...filters, ...periodOf({ by, from, to }), search }
      yield* exportInvoices({ ...deps.money, reportingCurrency }, query, onRows)
    },
  })

/** The part of Vite's manifest that is read here: files by the source they were built from. */
const manifestOf = z.record(
  z.string(),
  z.object({
    file: z.string(),
    name: z.string().default(''),
    imports: z.array(z.string()).default([]),
    css: z.array(z.string()).default([]),
  }),
)
type Manifest = z.output<typeof manifestOf>

/** The program of every page, and the frame around most: groups of the build (services/dashboard/vite.config.ts). */
const MAIN = 'main'
const FRAME = 'frame'
/** Pages without the frame of signed-in people. */
const OPEN_PAGES = ['login', 'reset', 'invitation']
/** First segments whose pages are named by the second one. */
const PARENTS = ['webhooks', 'system']

/**
 * Reads the manifest of a built dashboard and returns, for a path, the value of a `Link` header that names the files of its page (RFC 8288,
 * `modulepreload` of HTML): the browser requests them with those of the document, one way there and back earlier than the program that
 * would ask for them. Null where nothing is known. Only a hint: a page that is not named loads as before.
 */
export function createPagePreloads(folder: string): (path: string) => string | null {
  const path = join(folder, '.vite/manifest.json')
  const manifest = existsSync(path) ? manifestOf.parse(JSON.parse(readFileSync(path, 'utf8'))) : {}
  return (url) => {
    const keys = [MAIN, ...chunksOf(url)].map((chunk) => keyOf(manifest, chunk))
    const files = new Set(keys.flatMap((key) => [...filesOf(manifest, key)]))
    return files.size === 0 ? null : [...files].map(linkTo).join(', ')
  }
}

const linkTo = (file: string) =>
  file.endsWith('.css') ? `</${file}>; rel=preload; as=style; crossorigin` : `</${file}>; rel=modulepreload`

/** A page's key is its source, that of a group ends in the hash of its content. */
const keyOf = (manifest: Manifest, chunk: string): string =>
  manifest[chunk] === undefined ? (Object.keys(manifest).find((key) => manifest[key]?.name === chunk) ?? chunk) : chunk

/** The chunks of a path: the frame by its name, a page by its source, whose folder has the same name. */
function chunksOf(url: string): readonly string[] {
  const segments = url.split('/').filter((segment) => segment !== '')
  const [first = '', mode = ''] = segments
  const pageOf = (name: string) => `src/pages/${name}/${name}-page.tsx`
  if (OPEN_PAGES.includes(first)) return [pageOf(first)]
  const rest = mode === 'live' || mode === 'test' ? segments.slice(2) : segments
  const [page = '', below = ''] = rest
  if (PARENTS.includes(page)) return [FRAME, pageOf(below)]
  // Deeper paths show one thing, whose page has another name.
  return rest.length === 1 || page === 'settings' ? [FRAME, pageOf(page)] : [FRAME]
}

function filesOf(manifest: Manifest, key: string, found = new Set<string>()): Set<string> {
  const chunk = manifest[key]
  if (chunk === undefined || found.has(chunk.file)) return found
  for (const file of [chunk.file, ...chunk.css]) found.add(file)
  for (const next of chunk.imports) filesOf(manifest, next, found)
  return found
}
