// Builds the web pages once per state of their sources. Builds are in `.cache/pages-<hash>/`; equal sources reuse theirs.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { extname, join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { ROOT } from './bundle.mjs'

/** Page name by folder with its `vite.config.ts`. */
const PAGES = {
  checkout: 'services/checkout/web',
  dashboard: 'services/dashboard',
  reference: 'services/api/reference/web',
}
const SOURCES = [...Object.values(PAGES), 'shared/contracts', 'shared/domain', 'shared/styles']
const CACHE = join(ROOT, '.cache')
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

/**
 * The folder of the pages for the current sources. Builds them in a separate process if necessary: Vite uses
 * 1 GB that a long-running process would never release. `report` receives progress lines.
 */
export async function builtPages(report = () => {}) {
  const target = join(CACHE, `pages-${hashSources()}`)
  if (existsSync(target)) utimesSync(target, new Date(), new Date())
  else await buildApart(report)
  return target
}

function buildApart(report) {
  const child = spawn(process.execPath, [join(ROOT, 'scripts/pages.mjs')], { stdio: ['ignore', 'ignore', 'pipe'] })
  const said = []
  createInterface(child.stderr).on('line', (line) => {
    said.push(line)
    if (said.length > 40) said.shift()
    if (line.endsWith('…') || line.startsWith('built ')) report(line)
  })
  const end = () => child.kill()
  process.once('exit', end)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => {
      process.off('exit', end)
      if (status === 0) resolve()
      else reject(new Error(`the pages could not be built:\n${said.join('\n')}`))
    })
  })
}

async function build(target, report) {
  report('building the pages (once per change) …')
  const startedAt = performance.now()
  const work = `${target}.${process.pid}.new`
  mkdirSync(work, { recursive: true })
  const { build: vite } = await import('vite')
  // A test runner's NODE_ENV would build pages for development, and leave them in the cache.
  const { NODE_ENV } = process.env
  process.env.NODE_ENV = 'production'
  for (const [page, folder] of Object.entries(PAGES)) {
    const root = join(ROOT, folder)
    await vite({
      root,
      configFile: join(root, 'vite.config.ts'),
      mode: 'production',
      logLevel: 'error',
      // The manifest lists which files each page loads (check-bytes.mjs); it is not served.
      build: { outDir: join(work, page), emptyOutDir: true, manifest: true },
    })
  }
  await compressFiles(work)
  if (NODE_ENV === undefined) delete process.env.NODE_ENV
  else process.env.NODE_ENV = NODE_ENV
  try {
    renameSync(work, target)
  } catch (error) {
    // Another process was faster with the same files.
    rmSync(work, { recursive: true, force: true })
    if (!existsSync(target)) throw error
  }
  report(`built the pages in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  forget(CACHE)
}

const COMPRESSIBLE = new Set(['.js', '.css', '.svg'])
const brotli = promisify(brotliCompress)
const gz = promisify(gzip)

/**
 * Writes each script, style and picture a second and third time, as small as Brotli and gzip make it. Services send these; compressing
 * at every request would give larger files for more work.
 */
async function compressFiles(folder) {
  for (const path of [...sourceFiles(folder)].filter((file) => COMPRESSIBLE.has(extname(file)))) {
    const plain = readFileSync(path)
    const forms = { br: await brotli(plain), gz: await gz(plain, { level: 9 }) }
    for (const [name, bytes] of Object.entries(forms)) {
      if (bytes.length < plain.length) writeFileSync(`${path}.${name}`, bytes)
    }
  }
}

/** Removes builds that were not used for a week. */
function forget(cache) {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name)
    if (/^pages-[0-9a-f]{16}(\.\d+\.new)?$/.test(name) && Date.now() - statSync(path).mtimeMs > KEEP_MS) {
      rmSync(path, { recursive: true, force: true })
    }
  }
}

// Run as a program it builds, or finds, the pages and prints their folder.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = join(CACHE, `pages-${hashSources()}`)
  if (!existsSync(folder)) await build(folder, (line) => process.stderr.write(`${line}\n`))
  process.stdout.write(`${folder}\n`)
}
