import type { Express, Request, Response } from 'express'
import { z } from 'zod'
import { handle } from './answers.ts'
import { admit, LIMITS, type LimitDeps } from './limits.ts'
import { readPageFiles } from './page-files.ts'

/**
 * Nothing but files of ours, no frame around us, no script that is made of text. Vite's page carries no inline script or style,
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

/** What serving the pages needs. */
interface PageDeps extends LimitDeps {
  readonly config: LimitDeps['config'] & { readonly pagesDir: string | null }
  readonly invoices: { findById(id: string): Promise<object | null> }
  readonly paymentLinks: { findById(id: string): Promise<object | null> }
}

const isId = (text: unknown): text is string => z.guid().safeParse(text).success

/** Serves the one page under every address that payers know; what is unknown gets the same page with status 404. */
export function servePages(app: Express, deps: PageDeps): void {
  const files = readPageFiles(deps.config.pagesDir)
  if (files === null) {
    app.use((_request, response) => {
      response.status(503).type('text').send('The checkout was not built: PAYMESH_PAGES_DIR is not set.')
    })
    return
  }
  const pages = new Map(
    LANGUAGES.map((language) => [language, files.page.replace('<html lang="en"', `<html lang="${language}"`)]),
  )
  const show = (request: Request, response: Response, status: number): void => {
    const asked = LANGUAGES.find((language) => language === request.query['lang'])
    const language = asked ?? LANGUAGES.find((known) => known === request.acceptsLanguages([...LANGUAGES])) ?? 'en'
    response
      .status(status)
      .set({ 'Content-Security-Policy': PAGE_POLICY, 'Cache-Control': 'no-cache', Vary: 'Accept-Language' })
      .type('html')
      .send(pages.get(language) ?? files.page)
  }
  const showFound = (find: (id: string) => Promise<object | null>) =>
    handle(async (request, response) => {
      await admit(deps, request, LIMITS.read)
      const { id } = request.params
      const isKnown = isId(id) && (await find(id.toLowerCase())) !== null
      show(request, response, isKnown ? 200 : 404)
    })

  app.get('/assets/:name', (request, response) => {
    if (!files.serveAsset(request.params.name, request, response)) response.status(404).end()
  })
  const invoice = showFound((id) => deps.invoices.findById(id))
  app.get('/i/:id', invoice)
  app.get('/i/:id/receipt', invoice)
  app.get(
    '/l/:id',
    showFound((id) => deps.paymentLinks.findById(id)),
  )
  // Whether a refund's link is good is only told to the script, which does not put the token into any log of ours.
  app.get('/r/:token', (request, response) => show(request, response, 200))
  app.use((request, response) => {
    if (request.method === 'GET' || request.method === 'HEAD') show(request, response, 404)
    else response.status(405).set('Allow', 'GET, HEAD').end()
  })
}
