import { readFileSync } from 'node:fs'
import type { OutgoingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import type { RequestHandler } from 'express'
import { builtAssets } from '#shared/runtime/http/built-assets.ts'
import { HARDENED } from '../middleware/send.ts'
import { createOpenApiDocument } from './document.ts'

/** A page with the same content for everyone. */
export interface Page {
  /** Below `/api/v1`. */
  readonly path: string
  /** Built at the first call and cached. */
  readonly body: () => string
  readonly headers: OutgoingHttpHeaders
}

/** Dependencies of the pages. */
export interface ReferenceDeps {
  /** Public URL of the API, without path and trailing slash. */
  readonly publicUrl: string
  /** Folder of the built pages; null when they were not built. */
  readonly pagesDir: string | null
}

/**
 * Files of this origin only: no inline script or style, no other host, no form, no framing of the page. Icons in the style sheet
 * and the empty favicon are `data:`.
 */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
/** Rate headers differ by caller, so only the caller's cache may store the page. */
const CACHE_CONTROL = 'private, max-age=300'
const COMMON = { 'Cache-Control': CACHE_CONTROL }

/** The OpenAPI document and, if it was built, the page that shows it. */
export function referencePages({ publicUrl, pagesDir }: ReferenceDeps): readonly Page[] {
  const document: Page = {
    path: '/openapi.json',
    body: once(() => JSON.stringify(createOpenApiDocument(`${publicUrl}/api/v1`))),
    headers: { ...COMMON, 'Content-Type': 'application/json; charset=utf-8' },
  }
  if (pagesDir === null) return [document]
  const page: Page = {
    path: '/docs',
    body: once(() => readFileSync(join(pagesDir, 'reference', 'index.html'), 'utf8')),
    headers: {
      ...COMMON,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': CONTENT_POLICY,
    },
  }
  return [document, page]
}

/** Serves the scripts and styles of the reference page, whose names change with their content; null when they were not built. */
export function referenceAssets({ pagesDir }: ReferenceDeps): RequestHandler | null {
  if (pagesDir === null) return null
  const serve = builtAssets(join(pagesDir, 'reference', 'assets'))
  return (request, response, next) => serve(request, response.set(HARDENED), next)
}

function once(make: () => string): () => string {
  let made: string | null = null
  return () => {
    made ??= make()
    return made
  }
}
