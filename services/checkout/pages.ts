import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Express, NextFunction, Request, Response } from 'express'
import { z } from 'zod'
import { LANGUAGES, type Language } from '#services/checkout/web/src/format/locale.ts'
import { type Html, html } from '#shared/contracts/html.ts'
import { builtAssets } from '#shared/runtime/http/built-assets.ts'
import { publicError, retryAfterOf } from './answers.ts'
import type { CheckoutDeps } from './checkout-deps.ts'
import { message } from './plain/plain-document.ts'
import { plainRoutes } from './plain/plain-routes.ts'
import { languageOf, speechOf } from './plain/plain-speech.ts'

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

const isId = (text: unknown): text is string => z.guid().safeParse(text).success

/**
 * Serves the one page under every path that payers use. A document reads nothing and counts nothing, so that no fault and no crowd can take
 * its place: its script requests the data, and says what is missing. Paths that name nothing get the same page with status 404.
 */
export function servePages(app: Express, deps: CheckoutDeps): void {
  const { pagesDir } = deps.config
  if (pagesDir === null) {
    app.use((_request, response) => {
      response.status(503).type('text').send('The checkout was not built: PAYMESH_PAGES_DIR is not set.')
    })
    return
  }
  const folder = join(pagesDir, 'checkout')
  const built = readFileSync(join(folder, 'index.html'), 'utf8')
  const fileOf = filesOf(folder)
  const pages = new Map(LANGUAGES.map((language) => [language, pageIn(language, built, fileOf)]))
  const show = (
    request: Request,
    response: Response,
    status: number,
    scriptless: Html | null = null,
    late: Html = html``,
  ): void => {
    const page = (pages.get(languageOf(request)) ?? built).replace(ROOT, `${ROOT}${late.markup}`)
    response
      .status(status)
      .set({ 'Content-Security-Policy': PAGE_POLICY, 'Cache-Control': 'no-cache', Vary: 'Accept-Language' })
      .type('html')
      .send(scriptless === null ? page : withoutScript(page, scriptless))
  }
  const showMissing = (request: Request, response: Response): void => {
    const { say } = speechOf(request)
    show(request, response, 404, sheet(message(say('missing.title'), say('missing'))))
  }
  /** A page about one thing: its script's first read, and the same page without a script, have their own paths. */
  const showFor = (kind: 'i' | 'l', below = '') => {
    app.all(`/${kind}/:id${below}`, (request, response) => {
      const { id } = request.params
      if (!isId(id)) return showMissing(request, response)
      response.set('Link', preload(`/api/${kind}/${id}?coins`))
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      if (!isRead) response.set('Allow', 'GET, HEAD')
      const lead = leadTo(`/${kind}/${id}${below}/plain${speechOf(request).query}`)
      show(request, response, isRead ? 200 : 405, html`${lead.refresh}${lead.link}`, lead.link)
    })
  }

  app.use('/assets', builtAssets(join(folder, 'assets')), noSuchFile)
  app.use(
    plainRoutes(
      deps,
      [...stylesOf(built), fileOf('src/styles/plain.css')].filter((path) => path !== null),
    ),
  )
  showFor('i')
  showFor('i', '/receipt')
  showFor('l')
  // Only the script requests whether a refund's link is valid; it keeps the token out of our logs.
  app.get('/r/:token', (request, response) => {
    const { say, words } = speechOf(request)
    show(request, response, 200, sheet(message(say('refund.title'), words.refund)), html`<p>${words.refund}</p>`)
  })
  app.use(showMissing)
  app.use((error: unknown, request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) return next(error)
    const known = publicError(error)
    if (known.status >= 500) deps.logger.error({ path: request.path, error }, 'a document failed')
    const wait = retryAfterOf(known)
    if (wait !== null) response.set('Retry-After', String(wait))
    if (known.status === 404) showMissing(request, response)
    else show(request, response, known.status)
  })
}

/** The part of Vite's manifest that is read here: files by the source they were built from. */
const MANIFEST = z.record(z.string(), z.object({ file: z.string() }))

/** The path of the file that was built from a source; null where the build names none. */
function filesOf(folder: string): (source: string) => string | null {
  const manifest = join(folder, '.vite/manifest.json')
  const files = existsSync(manifest) ? MANIFEST.parse(JSON.parse(readFileSync(manifest, 'utf8'))) : {}
  return (source) => (files[source] === undefined ? null : `/${files[source].file}`)
}

/** The built page in a language, with its texts requested together with the script, which would ask for them one way there and back later. */
function pageIn(language: Language, built: string, fileOf: (source: string) => string | null): string {
  const page = built.replace('<html lang="en"', `<html lang="${language}"`)
  const texts = fileOf(`src/locales/${language}.ts`)
  return texts === null
    ? page
    : page.replace('</head>', `  <link rel="modulepreload" crossorigin href="${texts}" />\n  </head>`)
}

/** The style sheets that a built page names. */
function stylesOf(built: string): readonly string[] {
  return [...built.matchAll(/href="([^"]+)"/g)].flatMap(([, href = '']) => (href.endsWith('.css') ? href : []))
}

/** Where the script shows the page, in place of what it finds there. */
const ROOT = '<div id="root">'
const NOSCRIPT = ['<noscript>', '</noscript>'] as const

/** The built page says that it needs JavaScript; one that has something else to say without it says that instead. */
function withoutScript(page: string, { markup }: Html): string {
  const [from, to] = [page.indexOf(NOSCRIPT[0]), page.indexOf(NOSCRIPT[1])]
  return from < 0 ? page : `${page.slice(0, from + NOSCRIPT[0].length)}${markup}${page.slice(to)}`
}

/** A page about nothing but these words. */
const sheet = (words: Html): Html =>
  html`<main class="sheet narrow-sheet"><section class="till">${words}</section></main>`

/** Leads to a page that exists without JavaScript. Browsers that follow no refresh inside `noscript`, or whose script does not come, have the link. */
const leadTo = (path: string) => ({
  refresh: html`<meta http-equiv="refresh" content="0; url=${path}" />`,
  link: html`<p><a href="${path}">Continue without JavaScript · Continuar sin JavaScript · Continuar sem JavaScript</a></p>`,
})

/**
 * The browser requests the page's data together with its script, one way there and back earlier than the script would. The script's
 * own request then takes over this one, where mode and credentials are equal (https://html.spec.whatwg.org/#link-type-preload).
 */
const preload = (path: string) => `<${path}>; rel=preload; as=fetch; crossorigin`

/** A page from before an upgrade requests files that the upgrade replaced; the page offers to be loaded again. */
function noSuchFile(_request: Request, response: Response): void {
  response.status(404).set('Cache-Control', 'no-store').end()
}
