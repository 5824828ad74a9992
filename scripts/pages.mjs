// Builds the web pages once per state of their sources. Builds are in `.cache/pages-<hash>/`; equal sources reuse theirs.
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { buildOnce, cachedBuild, filesBelow, isBuilt, ROOT } from './bundle.mjs'

/** Page name by folder with its `vite.config.ts`. */
const PAGES = {
  checkout: 'services/checkout/web',
  dashboard: 'services/dashboard',
  reference: 'services/api/reference/web',
}
const SOURCES = [...Object.values(PAGES), 'shared/contracts', 'shared/domain', 'shared/styles']

function pagesFolder() {
  const files = SOURCES.flatMap((folder) => filesBelow(join(ROOT, folder)))
  return cachedBuild('pages-', [...files, join(ROOT, 'scripts/pages.mjs')])
}

/**
 * The folder of the pages for the current sources. Builds them in a separate process if necessary: Vite uses
 * 1 GB that a long-running process would never release. `report` receives progress lines.
 */
export async function builtPages(report = () => {}) {
  const target = pagesFolder()
  if (!isBuilt(target)) await buildApart(report)
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

async function build(work) {
  const { build: vite } = await import('vite')
  // A test runner's NODE_ENV would build pages for development, and leave them in the cache.
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
}

const COMPRESSIBLE = new Set(['.js', '.css', '.svg'])
const brotli = promisify(brotliCompress)
const gz = promisify(gzip)

/**
 * Writes each script, style and picture a second and third time, as small as Brotli and gzip make it. Services send these; compressing
 * at every request would give larger files for more work.
 */
async function compressFiles(folder) {
  for (const path of filesBelow(folder).filter((file) => COMPRESSIBLE.has(extname(file)))) {
    const plain = readFileSync(path)
    const forms = { br: await brotli(plain), gz: await gz(plain, { level: 9 }) }
    for (const [name, bytes] of Object.entries(forms)) {
      if (bytes.length < plain.length) writeFileSync(`${path}.${name}`, bytes)
    }
  }
}

// Run as a program it builds, or finds, the pages and prints their folder.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = pagesFolder()
  const report = (line) => process.stderr.write(`${line}\n`)
  if (!isBuilt(folder)) await buildOnce(folder, report, ['building the pages', 'built the pages'], build)
  process.stdout.write(`${folder}\n`)
}
