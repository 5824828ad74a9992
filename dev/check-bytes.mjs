// `npm run check:bytes`: the pages stay small enough for a slow phone. Counts the compressed scripts and styles that each page loads
// before it is shown, from the manifest of the build; fails when one exceeds its budget.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { builtPages } from '#scripts/pages.mjs'

/** Bytes after gzip: 0.7 s for a page of the dashboard and 0.3 s for the checkout on slow 4G (1,475 kbit/s), without the way there and back. */
const CHECKOUT_MAX = 47_000
/** With the texts of a language besides English, which is part of the script. */
const OTHER_LANGUAGE_MAX = 53_500
/** Pages without a log-in, on which a person begins with an empty cache. */
const OPEN_PAGE_MAX = 102_000
/** Pages on which signed-in people begin. */
const FIRST_PAGE_MAX = 121_000
/** Pages that are opened from another one, whose shared part is in the cache by then. */
const LATER_PAGE_MAX = 126_000
const FIRST_PAGES = ['overview', 'invoices', 'payments']
/** Groups of the build (services/dashboard/vite.config.ts). */
const MAIN = 'main'
const FRAME = 'frame'
const WITHOUT_FRAME = ['login', 'invitation', 'reset']
const PAGE = /^src\/pages\/[^/]+\/([^/]+)-page\.tsx$/

const folder = await builtPages((line) => process.stderr.write(`${line}\n`))
const readManifest = (page) => JSON.parse(readFileSync(join(folder, page, '.vite/manifest.json'), 'utf8'))

/** Files of a chunk and of everything that it imports before it runs. */
function filesOf(manifest, key, found = new Set()) {
  const chunk = manifest[key]
  if (chunk === undefined) throw new Error(`the manifest has no ${key}`)
  if (found.has(chunk.file)) return found
  found.add(chunk.file)
  for (const css of chunk.css ?? []) found.add(css)
  for (const next of chunk.imports ?? []) filesOf(manifest, next, found)
  return found
}

function gzipBytes(page, files) {
  const size = (file) => {
    const path = join(folder, page, file)
    return statSync(existsSync(`${path}.gz`) ? `${path}.gz` : path).size
  }
  return [...files].reduce((sum, file) => sum + size(file), 0)
}

function maxOf(name) {
  if (WITHOUT_FRAME.includes(name)) return OPEN_PAGE_MAX
  return FIRST_PAGES.includes(name) ? FIRST_PAGE_MAX : LATER_PAGE_MAX
}

/** The key of a group of the build, which ends in the hash of its content. */
const groupKey = (manifest, group) => Object.keys(manifest).find((key) => manifest[key].name === group)

/** Every page of the dashboard with its bytes and its budget. */
function dashboardPages() {
  const manifest = readManifest('dashboard')
  return Object.keys(manifest).flatMap((key) => {
    const name = PAGE.exec(key)?.[1]
    if (name === undefined) return []
    const groups = WITHOUT_FRAME.includes(name) ? [MAIN] : [MAIN, FRAME]
    const entries = [...groups.map((group) => groupKey(manifest, group)), key]
    const files = new Set(entries.flatMap((entry) => [...filesOf(manifest, entry)]))
    const max = maxOf(name)
    return [{ name: `dashboard ${name}`, bytes: gzipBytes('dashboard', files), max }]
  })
}

const checkout = readManifest('checkout')
const inLanguage = (language) => ({
  name: `checkout in ${language}`,
  bytes: gzipBytes('checkout', filesOf(checkout, `src/locales/${language}.ts`, filesOf(checkout, 'index.html'))),
  max: OTHER_LANGUAGE_MAX,
})
const rows = [
  { name: 'checkout', bytes: gzipBytes('checkout', filesOf(checkout, 'index.html')), max: CHECKOUT_MAX },
  ...['es', 'pt'].map(inLanguage),
  ...dashboardPages(),
].sort((one, other) => other.bytes - one.bytes)
const expected = ['dashboard login', 'dashboard overview', 'checkout']
const unmeasured = expected.filter((name) => !rows.some((row) => row.name === name))
const over = rows.filter(({ bytes, max }) => bytes > max)
for (const { name, bytes, max } of process.argv.includes('--all') ? rows : over) {
  process.stdout.write(`${name}: ${bytes} bytes after gzip, budget ${max}\n`)
}
for (const name of unmeasured) process.stdout.write(`${name}: not in the build\n`)
process.stdout.write(`bytes: ${rows.length} pages, ${over.length} over their budget\n`)
process.exitCode = over.length + unmeasured.length === 0 ? 0 : 1
