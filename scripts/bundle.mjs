// Bundles the TypeScript entries once per state of the sources, because a bundled process starts three times as fast
// as one that compiles while it loads. Bundles are in `.cache/<hash>/`; equal sources reuse theirs.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'

const SOURCES = ['services', 'shared', 'scripts', 'dev', 'clients']
const ENTRIES = ['scripts/start/main.ts', 'scripts/service/main.ts', 'scripts/cli/main.ts', 'scripts/demo/main.ts']
// These read files next to their modules, or are native.
const EXTERNAL = [
  'mongodb-memory-server-core',
  '@foundry-rs/*',
  '@node-rs/argon2',
  'sharp',
  'esbuild',
  'vite',
  'fsevents',
]
// The pages are built separately (pages.mjs).
const PAGES = ['services/dashboard', 'services/checkout/web', 'services/api/reference/web']
const KEEP_MS = 7 * 86_400_000

/** The checkout's folder: the nearest one above this file with a package.json, bundled or not. */
function findRoot() {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder
  }
  throw new Error('package.json not found')
}

/** Absolute path of the checkout. */
export const ROOT = findRoot()

/** Where an image contains its bundles. */
const PREBUILT = join(ROOT, 'bundle')

const OPTIONS = {
  absWorkingDir: ROOT,
  outbase: ROOT,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  sourcemap: true,
  sourcesContent: false,
  external: EXTERNAL,
  logLevel: 'error',
  // CommonJS packages inside the bundle load Node's own modules with `require`.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
}

const CACHE = join(ROOT, '.cache')

/** Every file below a folder but tests. */
export const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && !entry.name.includes('.test.'))
    .map((entry) => join(entry.parentPath, entry.name))

/** Where the build of these files is kept: equal files, on the same version of Node, have one. */
export function cachedBuild(prefix, files) {
  const hash = createHash('sha256').update(process.version)
  for (const file of [...files, join(ROOT, 'package-lock.json')].sort())
    hash.update(relative(ROOT, file)).update('\0').update(readFileSync(file)).update('\0')
  return join(CACHE, `${prefix}${hash.digest('hex').slice(0, 16)}`)
}

/** Whether a build is there, which is kept for another week then. */
export function isBuilt(target) {
  if (!existsSync(target)) return false
  utimesSync(target, new Date(), new Date())
  return true
}

/** Has `make` build into a new folder, which becomes `target` in one step. Removes builds that were not used for a week. */
export async function buildOnce(target, report, [doing, done], make) {
  report(`${doing} (once per change) …`)
  const startedAt = performance.now()
  const work = `${target}.${process.pid}.new`
  mkdirSync(work, { recursive: true })
  await make(work)
  try {
    renameSync(work, target)
  } catch (error) {
    // Another process was faster with the same files.
    rmSync(work, { recursive: true, force: true })
    if (!existsSync(target)) throw error
  }
  report(`${done} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name)
    if (/^(pages-)?[0-9a-f]{16}(\.\d+\.new)?$/.test(name) && Date.now() - statSync(path).mtimeMs > KEEP_MS)
      rmSync(path, { recursive: true, force: true })
  }
}

function bundleFolder() {
  const isSource = (file) =>
    /\.(ts|mjs|json)$/.test(file) && !PAGES.some((page) => file.startsWith(join(ROOT, page) + sep))
  const files = SOURCES.flatMap((folder) => filesBelow(join(ROOT, folder))).filter(isSource)
  return cachedBuild('', [...files, join(ROOT, 'package.json')])
}

/**
 * The bundled file of an entry (`scripts/start/main.ts` …) for the sources as they are now, as a file URL to import.
 * Builds it if necessary; `report` receives progress lines. Several processes may call it concurrently.
 */
export async function bundled(entry, report = () => {}) {
  if (!ENTRIES.includes(entry)) throw new Error(`${entry} is not an entry of the bundle`)
  // An image contains bundles and no sources.
  if (existsSync(PREBUILT)) return urlOf(PREBUILT, entry)
  // The parent bundled for all its processes: they run the same code, whatever is edited meanwhile.
  const home = process.env.BUNDLE_HOME
  if (home && existsSync(home)) return urlOf(home, entry)
  const target = bundleFolder()
  const entries = ENTRIES.filter((one) => existsSync(join(ROOT, one)))
  if (!isBuilt(target))
    await buildOnce(target, report, ['bundling the services', 'bundled'], (work) => buildBundle(work, entries))
  return urlOf(target, entry)
}

const urlOf = (folder, entry) => pathToFileURL(join(folder, entry.replace(/\.ts$/, '.js').split('/').join(sep))).href

/** Bundles some entries into a separate folder, without the modules that match `leftOut`, whose import then fails. */
export async function buildBundle(folder, entries, leftOut = []) {
  const { build: esbuild } = await import('esbuild')
  await esbuild({ ...OPTIONS, external: [...EXTERNAL, ...leftOut], entryPoints: entries, outdir: folder })
}
