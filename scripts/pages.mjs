// Builds the web pages once per state of their sources. Builds live in `.cache/pages-<hash>/`; equal sources find theirs again.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './bundle.mjs'

/** Page name by folder with its `vite.config.ts`. */
const PAGES = {
  checkout: 'services/checkout/web',
  dashboard: 'services/dashboard',
  reference: 'services/api/reference/web',
}
const SOURCES = [...Object.values(PAGES), 'shared/contracts', 'shared/domain', 'shared/styles']
const KEEP_MS = 7 * 86_400_000

function* sourceFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* sourceFiles(path)
    else if (!entry.name.includes('.test.')) yield path
  }
}

function hashSources() {
  const hash = createHash('sha256').update(process.version)
  const files = SOURCES.flatMap((folder) => [...sourceFiles(join(ROOT, folder))]).sort()
  for (const file of [...files, join(ROOT, 'scripts/pages.mjs'), join(ROOT, 'package-lock.json')]) {
    hash.update(relative(ROOT, file)).update('\0').update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex').slice(0, 16)
}

export async function builtPages(report = () => {}) {
  const cache = join(ROOT, '.cache')
  const target = join(cache, `pages-${hashSources()}`)
  if (existsSync(target)) utimesSync(target, new Date(), new Date())
  else await build(cache, target, report)
  return target
}

async function build(cache, target, report) {
  report('building the pages (once per change) …')
  const startedAt = performance.now()
  const work = `${target}.${process.pid}.new`
  mkdirSync(work, { recursive: true })
  const { build: vite } = await import('vite')
  // A test runner's NODE_ENV would build pages for development, and leave them for everybody.
  const { NODE_ENV } = process.env
  process.env.NODE_ENV = 'production'
  for (const [page, folder] of Object.entries(PAGES)) {
    const root = join(ROOT, folder)
    await vite({
      root,
      configFile: join(root, 'vite.config.ts'),
      mode: 'production',
      logLevel: 'error',
      build: { outDir: join(work, page), emptyOutDir: true },
    })
  }
  if (NODE_ENV === undefined) delete process.env.NODE_ENV
  else process.env.NODE_ENV = NODE_ENV
  try {
    renameSync(work, target)
  } catch (error) {
    // Another process was faster with the very same files.
    rmSync(work, { recursive: true, force: true })
    if (!existsSync(target)) throw error
  }
  report(`built the pages in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  forget(cache)
}

/** Removes builds that nobody used for a week. */
function forget(cache) {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name)
    if (/^pages-[0-9a-f]{16}(\.\d+\.new)?$/.test(name) && Date.now() - statSync(path).mtimeMs > KEEP_MS) {
      rmSync(path, { recursive: true, force: true })
    }
  }
}

// As a program it builds, or finds, the pages and prints their folder.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = await builtPages((line) => process.stderr.write(`${line}\n`))
  process.stdout.write(`${folder}\n`)
}
