import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'

/** A year, in seconds: the names of these files change with their content. */
const MAX_AGE_S = 31_536_000
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}
/** Smaller forms that `scripts/pages.mjs` wrote beside each file, the smallest first, by the name of their encoding. */
const FORMS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/** A step of a Connect or Express application. */
type Step = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

/**
 * Serves the built scripts and styles of `folder`, to be cached for a year, in the smaller form (`.br`, `.gz`) where the client accepts
 * one. The files are read once and kept in memory, some megabytes: no path leads out of the folder, no download that is broken off keeps a
 * file open, and files that are removed later are still served. Any other name or method goes to the next step. Throws when the folder
 * does not exist.
 */
export function builtAssets(folder: string): Step {
  const files = new Map<string, Buffer>(
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [`/${name}`, readFileSync(join(folder, name))] as const),
  )
  const isForm = (path: string): boolean => FORMS.some(([, ending]) => path.endsWith(ending))
  return (request, response, next) => {
    const path = request.url?.split('?')[0] ?? '/'
    const plain = isForm(path) ? undefined : files.get(path)
    if (plain === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return next()
    const accepted = acceptedEncodings(request)
    const form = FORMS.find(([encoding, ending]) => accepted.has(encoding) && files.has(`${path}${ending}`))
    const body = form === undefined ? plain : (files.get(`${path}${form[1]}`) ?? plain)
    response.writeHead(200, {
      'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream',
      'Content-Length': body.length,
      'Cache-Control': `public, max-age=${MAX_AGE_S}, immutable`,
      Vary: 'Accept-Encoding',
      ...(form !== undefined && { 'Content-Encoding': form[0] }),
    })
    response.end(request.method === 'HEAD' ? undefined : body)
  }
}

/** Encodings that the client names, without those it refuses with `q=0`. */
function acceptedEncodings({ headers }: IncomingMessage): ReadonlySet<string> {
  const parts = String(headers['accept-encoding'] ?? '')
    .toLowerCase()
    .split(',')
  return new Set(
    parts.filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part)).map((part) => (part.split(';')[0] ?? '').trim()),
  )
}
