import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

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

/** The chunks of a path: the frame by its name, a page by its source, which has a folder of its own name. */
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
