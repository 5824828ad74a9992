// `npm run check:deps`: the dependency policy of docs/security/DEPENDENCIES.md, as far as the lockfile shows it. Calls no registry, except with
// `--ages REF`: then each version that was added to the lockfile since that commit must be at least seven days old.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const AGE_MIN_DAYS = 7
const DAY_MS = 86_400_000
const ALIAS = /^npm:@?[^@]+@\d+\.\d+\.\d+$/
const EXACT = /^\d+\.\d+\.\d+(-[\w.]+)?$/
/** Packages with an install script. None runs (`ignore-scripts`), and each works without. */
const KNOWN_SCRIPTS = new Set([
  '@foundry-rs/anvil',
  '@scarf/scarf',
  '@swc/core',
  'bufferutil',
  'esbuild',
  'msgpackr-extract',
  'utf-8-validate',
])
const FREE = [
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'Unlicense',
  'CC0-1.0',
  'Zlib',
]
/** For tools that are not shipped. */
const FREE_FOR_TOOLS = [...FREE, 'MPL-2.0', 'Python-2.0', 'LGPL-3.0-only']

/** Shared libraries of sharp, loaded as they are and replaceable: the LGPL asks no more of what ships beside them. */
const SHARED_LIBRARIES = /^@img\/sharp-(libvips|win32|wasm32)/
const FREE_AS_LIBRARY = [...FREE, 'LGPL-3.0-or-later']

/** Packages whose licence form the lockfile leaves out; their licence file was read. */
const READ = { eyes: 'MIT', reserved: 'MIT', 'text-encoding-utf-8': 'Unlicense' }

const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** Every part of an `AND`, one part of an `OR`. */
function isFree(license, allowed) {
  const text = license.replace(/^\(|\)$/g, '')
  if (text.includes(' OR ')) return text.split(' OR ').some((part) => isFree(part, allowed))
  return text.split(' AND ').every((part) => allowed.includes(part))
}

function faultsOf(manifest, lock) {
  const faults = []
  const wanted = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }
  for (const [name, range] of Object.entries(wanted)) {
    if (!EXACT.test(range) && !ALIAS.test(range)) faults.push(`${name}: ${range} is not one exact version`)
  }
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path === '' || entry.link) continue
    const name = nameOf(path)
    if (entry.integrity === undefined) faults.push(`${path}: has no integrity hash`)
    if (entry.integrity !== undefined && !/^sha512-/.test(entry.integrity)) faults.push(`${path}: weak hash`)
    if (entry.resolved !== undefined && !/^https:\/\//.test(entry.resolved))
      faults.push(`${path}: comes from ${entry.resolved}`)
    if (entry.hasInstallScript && !KNOWN_SCRIPTS.has(name)) faults.push(`${path}: has an install script`)
    const shipped = SHARED_LIBRARIES.test(name) ? FREE_AS_LIBRARY : FREE
    const allowed = entry.dev || entry.devOptional ? FREE_FOR_TOOLS : shipped
    const license = entry.license ?? READ[name]
    if (license === undefined || !isFree(String(license), allowed)) {
      faults.push(`${path}: licence ${license ?? 'unknown'} is not on the list${entry.dev ? ' for tools' : ''}`)
    }
  }
  const npmrc = readFileSync('.npmrc', 'utf8')
  for (const line of ['ignore-scripts=true', 'save-exact=true']) {
    if (!npmrc.split('\n').includes(line)) faults.push(`.npmrc: lacks ${line}`)
  }
  return faults
}

/** Versions in the lockfile that were not in it at a commit. */
function gained(lock, ref) {
  const before = JSON.parse(
    execFileSync('git', ['show', `${ref}:package-lock.json`], { encoding: 'utf8', maxBuffer: 1e8 }),
  )
  const known = new Set(Object.entries(before.packages).map(([path, { version }]) => `${nameOf(path)}@${version}`))
  const now = Object.entries(lock.packages).flatMap(([path, { version }]) =>
    path === '' ? [] : [`${nameOf(path)}@${version}`],
  )
  return [...new Set(now)].filter((one) => !known.has(one))
}

function tooYoung(version) {
  const name = version.slice(0, version.lastIndexOf('@'))
  let times
  try {
    times = JSON.parse(
      execFileSync('npm', ['view', name, 'time', '--json'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    )
  } catch {
    return `${version}: the registry does not report its age`
  }
  const days = (Date.now() - Date.parse(times[version.slice(name.length + 1)])) / DAY_MS
  return days >= AGE_MIN_DAYS ? null : `${version}: is ${days.toFixed(1)} days old`
}

const args = process.argv.slice(2)
if (args.includes('--help')) {
  process.stdout.write(
    'npm run check:deps [-- --ages REF]: exact pins, hashes, licences, no install scripts; ages of new versions\n',
  )
} else {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const faults = faultsOf(JSON.parse(readFileSync('package.json', 'utf8')), lock)
  if (args.includes('--ages')) {
    const fresh = gained(lock, args[args.indexOf('--ages') + 1] ?? 'HEAD')
    faults.push(...fresh.map(tooYoung).filter((fault) => fault !== null))
    process.stdout.write(`${fresh.length} new versions\n`)
  }
  for (const fault of faults) process.stderr.write(`${fault}\n`)
  process.stdout.write(`dependencies: ${Object.keys(lock.packages).length - 1} locked, ${faults.length} faults\n`)
  process.exitCode = faults.length === 0 ? 0 : 1
}
