import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Express, NextFunction, Request, Response } from 'express'
import { z } from 'zod'
import { LANGUAGES, type Language } from '#services/checkout/web/src/format/locale.ts'
import { builtAssets } from '#shared/runtime/http/built-assets.ts'
import { publicError, retryAfterOf } from './answers.ts'
import type { CheckoutDeps } from './checkout-deps.ts'
import { plainRoutes } from './plain/plain-routes.ts'
import { languageOf } from './plain/plain-speech.ts'

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
  const pages = new Map(LANGUAGES.map((language) => [language, pageIn(language, built, folder)]))
  const show = (request: Request, response: Response, status: number, plain: string | null = null): void => {
    const page = pages.get(languageOf(request)) ?? built
    response
      .status(status)
      .set({ 'Content-Security-Policy': PAGE_POLICY, 'Cache-Control': 'no-cache', Vary: 'Accept-Language' })
      .type('html')
      .send(plain === null ? page : leadTo(page, plain))
  }
  /** A page about one thing: its script's first read, and the same page without a script, have their own paths. */
  const showFor = (kind: 'i' | 'l', below = '') => {
    app.get(`/${kind}/:id${below}`, (request, response) => {
      const { id } = request.params
      if (!isId(id)) return show(request, response, 404)
      response.set('Link', preload(`/api/${kind}/${id}?coins`))
      const { lang } = request.query
      const query = LANGUAGES.some((language) => language === lang) ? `?lang=${String(lang)}` : ''
      show(request, response, 200, `/${kind}/${id}${below}/plain${query}`)
    })
  }

  app.use('/assets', builtAssets(join(folder, 'assets')), noSuchFile)
  app.use(plainRoutes(deps, stylesOf(built)))
  showFor('i')
  showFor('i', '/receipt')
  showFor('l')
  // Only the script requests whether a refund's link is valid; it keeps the token out of our logs.
  app.get('/r/:token', (request, response) => show(request, response, 200))
  app.use((request, response) => {
    if (request.method === 'GET' || request.method === 'HEAD') show(request, response, 404)
    else response.status(405).set('Allow', 'GET, HEAD').end()
  })
  app.use((error: unknown, request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) return next(error)
    const known = publicError(error)
    if (known.status >= 500) deps.logger.error({ path: request.path, error }, 'a document failed')
    const wait = retryAfterOf(known)
    if (wait !== null) response.set('Retry-After', String(wait))
    show(request, response, known.status)
  })
}

/** The part of Vite's manifest that is read here: files by the source they were built from. */
const manifestOf = z.record(z.string(), z.object({ file: z.string() }))

/** The built page in a language, with its texts requested together with the script, which would ask for them one way there and back later. */
function pageIn(language: Language, built: string, folder: string): string {
  const page = built.replace('<html lang="en"', `<html lang="${language}"`)
  const manifest = join(folder, '.vite/manifest.json')
  const texts = existsSync(manifest)
    ? manifestOf.parse(JSON.parse(readFileSync(manifest, 'utf8')))[`src/locales/${language}.ts`]
    : undefined
  if (texts === undefined) return page
  return page.replace('</head>', `  <link rel="modulepreload" crossorigin href="/${texts.file}" />\n  </head>`)
}

/** The style sheets that a built page names. */
function stylesOf(built: string): readonly string[] {
  return [...built.matchAll(/href="([^"]+)"/g)].flatMap(([, href = '']) => (href.endsWith('.css') ? href : []))
}

const NOSCRIPT = ['<noscript>', '</noscript>'] as const

/** The built page says that it needs JavaScript; a page that exists without it leads there instead. */
function leadTo(page: string, plain: string): string {
  const [from, to] = [page.indexOf(NOSCRIPT[0]), page.indexOf(NOSCRIPT[1])]
  return from < 0 ? page : `${page.slice(0, from)}${withoutScript(plain)}${page.slice(to + NOSCRIPT[1].length)}`
}

/** `path` is made of ids and fixed words, and needs no escaping. Browsers that follow no refresh inside `noscript` have the link. */
const withoutScript = (path: string) => `<noscript>
      <meta http-equiv="refresh" content="0; url=${path}" />
      <p><a href="${path}">Continue without JavaScript · Continuar sin JavaScript · Continuar sem JavaScript</a></p>
    </noscript>`

/**
 * The browser requests the page's data together with its script, one way there and back earlier than the script would. The script's
 * own request then takes over this one, where mode and credentials are equal (https://html.spec.whatwg.org/#link-type-preload).
 */
const preload = (path: string) => `<${path}>; rel=preload; as=fetch; crossorigin`

/** A page from before an upgrade requests files that the upgrade replaced; the page offers to be loaded again. */
function noSuchFile(_request: Request, response: Response): void {
  response.status(404).set('Cache-Control', 'no-store').end()
}
