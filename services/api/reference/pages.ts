import { createHash } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import { createOpenApiDocument } from './document.ts'
import { createReferencePage } from './page.ts'
import { PAGE_STYLE } from './page-style.ts'

/** A page that is the same for everybody. */
export interface Page {
  /** Below `/api/v1`. */
  readonly path: string
  /** Made at the first call and kept. */
  readonly body: () => string
  readonly headers: OutgoingHttpHeaders
}

/** Nothing but the page's own style: no script, no picture, no other host, no frame around it. */
const CONTENT_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
const HARDENED = { 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' }
/** Rate headers are the caller's own, so only the caller's cache may keep the page. */
const CACHE_CONTROL = 'private, max-age=300'

/** The OpenAPI document and the reference page made of it, for an installation that merchants reach at `publicUrl`. */
export function referencePages(publicUrl: string): readonly Page[] {
  const openApi = once(() => JSON.stringify(createOpenApiDocument(`${publicUrl}/api/v1`)))
  return [
    {
      path: '/openapi.json',
      body: openApi,
      headers: { ...HARDENED, 'Cache-Control': CACHE_CONTROL, 'Content-Type': 'application/json; charset=utf-8' },
    },
    {
      path: '/docs',
      body: once(() => createReferencePage(JSON.parse(openApi()))),
      headers: {
        ...HARDENED,
        'Cache-Control': CACHE_CONTROL,
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': CONTENT_POLICY,
      },
    },
  ]
}

function once(make: () => string): () => string {
  let made: string | null = null
  return () => {
    made ??= make()
    return made
  }
}
