import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Express, Request, Response } from 'express'
import { z } from 'zod'
import type { InvoiceState } from '#shared/domain/invoice/model.ts'
import { builtAssets } from '#shared/runtime/http/built-assets.ts'
import { type ViewPaymentLinkDeps, viewPaymentLink } from '#shared/usecases/payment-links/view-payment-link.ts'
import { handle } from './answers.ts'
import { admit, LIMITS, type LimitDeps } from './limits.ts'

/**
 * Only our own files, no framing, no script created from text. Vite's page has no inline script or style,
 * so none is allowed.
 */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const LANGUAGES = ['en', 'es', 'pt'] as const

/** Dependencies of serving the pages. */
interface PageDeps extends LimitDeps, ViewPaymentLinkDeps {
  readonly config: LimitDeps['config'] & { readonly pagesDir: string | null }
  readonly invoices: { findById(id: string): Promise<{ readonly state: Pick<InvoiceState, 'status'> } | null> }
}

/** What a page asks first, as paths of the API; null where there is nothing to show. */
type FirstReads = (id: string) => Promise<readonly string[] | null>

const isId = (text: unknown): text is string => z.guid().safeParse(text).success

/** Serves the one page under every path that payers use; unknown paths get the same page with status 404. */
export function servePages(app: Express, deps: PageDeps): void {
  const { pagesDir } = deps.config
  if (pagesDir === null) {
    app.use((_request, response) => {
      response.status(503).type('text').send('The checkout was not built: PAYMESH_PAGES_DIR is not set.')
    })
    return
  }
  const folder = join(pagesDir, 'checkout')
  const built = readFileSync(join(folder, 'index.html'), 'utf8')
  const pages = new Map(
    LANGUAGES.map((language) => [language, built.replace('<html lang="en"', `<html lang="${language}"`)]),
  )
  const show = (request: Request, response: Response, status: number): void => {
    const asked = LANGUAGES.find((language) => language === request.query['lang'])
    const language = asked ?? LANGUAGES.find((known) => known === request.acceptsLanguages([...LANGUAGES])) ?? 'en'
    response
      .status(status)
      .set({ 'Content-Security-Policy': PAGE_POLICY, 'Cache-Control': 'no-cache', Vary: 'Accept-Language' })
      .type('html')
      .send(pages.get(language) ?? built)
  }
  const showFound = (firstReads: FirstReads) =>
    handle(async (request, response) => {
      await admit(deps, request, LIMITS.read)
      const { id } = request.params
      const reads = isId(id) ? await firstReads(id) : null
      if (reads !== null) response.set('Link', reads.map(preload).join(', '))
      show(request, response, reads === null ? 404 : 200)
    })

  app.use('/assets', builtAssets(join(folder, 'assets')), noSuchFile)
  const statusOf = async (id: string) => (await deps.invoices.findById(id.toLowerCase()))?.state.status ?? null
  app.get(
    '/i/:id',
    showFound(async (id) => {
      const status = await statusOf(id)
      if (status === null) return null
      return status === 'new' ? [`/api/i/${id}`, `/api/i/${id}/assets`] : [`/api/i/${id}`]
    }),
  )
  app.get(
    '/i/:id/receipt',
    showFound(async (id) => ((await statusOf(id)) === null ? null : [`/api/i/${id}`])),
  )
  app.get(
    '/l/:id',
    showFound(async (id) => {
      const link = await viewPaymentLink(deps, id.toLowerCase())
      if (link === null) return null
      return link.isActive && link.amount.kind === 'fixed' ? [`/api/l/${id}`, `/api/l/${id}/assets`] : [`/api/l/${id}`]
    }),
  )
  // Only the script requests whether a refund's link is valid; it keeps the token out of our logs.
  app.get('/r/:token', (request, response) => show(request, response, 200))
  app.use((request, response) => {
    if (request.method === 'GET' || request.method === 'HEAD') show(request, response, 404)
    else response.status(405).set('Allow', 'GET, HEAD').end()
  })
}

/**
 * The browser requests the page's data together with its script, one way there and back earlier than the script would. The script's
 * own request then takes over this one, where mode and credentials are equal (https://html.spec.whatwg.org/#link-type-preload).
 */
const preload = (path: string) => `<${path}>; rel=preload; as=fetch; crossorigin`

/** A page from before an upgrade requests files that the upgrade replaced; the page offers to be loaded again. */
function noSuchFile(_request: Request, response: Response): void {
  response.status(404).set('Cache-Control', 'no-store').end()
}
