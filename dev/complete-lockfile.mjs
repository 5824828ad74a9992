// `npm run lockfile`: completes package-lock.json for platforms other than this machine's.
// When a registry does not return an optional platform package, `npm install` silently leaves it out of the lockfile
// and an install on that platform then lacks it. Each optional dependency of a locked package
// without an entry gets one here, and each entry without a hash the hash and the licence that the registry states (`npm run check:deps` finds these).
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const FILE = 'package-lock.json'
const SYSTEMS = ['darwin', 'linux', 'win32', 'freebsd', 'openbsd', 'android', 'sunos', 'aix', 'netbsd', 'openharmony']

/** Operating systems in a platform package's name; empty without any. */
function systemsOf(name) {
  return SYSTEMS.filter((system) => name.includes(system))
}

/** Adds the missing entries to `lock` and returns their names. */
function complete(lock) {
  const added = []
  for (const [path, entry] of Object.entries(lock.packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      const version = range.replace(/^[\^~=v]+/, '')
      const nested = path === '' ? `node_modules/${name}` : `${path}/node_modules/${name}`
      if (lock.packages[nested] || lock.packages[`node_modules/${name}`]) continue
      const os = systemsOf(name)
      lock.packages[`node_modules/${name}`] = { version, optional: true, ...(os.length > 0 ? { os } : {}) }
      added.push(`${name}@${version}`)
    }
  }
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
  return added
}

/** Paths of registry packages whose entry has no hash, so that an install would take any content for them. */
function withoutHash(lock) {
  return Object.entries(lock.packages).flatMap(([path, entry]) =>
    path === '' || entry.link || entry.integrity !== undefined ? [] : [path],
  )
}

/** Adds hash and licence as the registry states them. Throws when it states no hash. */
function addHash(lock, path) {
  const entry = lock.packages[path]
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const shown = execFileSync('npm', ['view', `${name}@${entry.version}`, 'dist.integrity', 'license', '--json'], {
    encoding: 'utf8',
  })
  const { 'dist.integrity': integrity, license } = JSON.parse(shown)
  if (!integrity) throw new Error(`the registry states no hash of ${name}@${entry.version}`)
  const { version, ...rest } = entry
  lock.packages[path] = { version, integrity, ...(license && { license }), ...rest }
}

if (process.argv.includes('--help')) {
  process.stdout.write(
    'npm run lockfile: adds optional packages of other platforms, and missing hashes, to package-lock.json\n',
  )
} else {
  const lock = JSON.parse(readFileSync(FILE, 'utf8'))
  const added = complete(lock)
  const bare = withoutHash(lock)
  for (const path of bare) addHash(lock, path)
  writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`)
  process.stdout.write(`lockfile: added ${added.length} platform packages and ${bare.length} hashes\n`)
}
