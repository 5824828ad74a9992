// `npm run lockfile`: completes package-lock.json for platforms other than this machine's.
// When a registry does not return an optional platform package, `npm install` silently leaves it out of the lockfile
// and an install on that platform then lacks it. Each optional dependency of a locked package
// without an entry gets one here. `--check` changes nothing and fails when an entry is missing.
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

if (process.argv.includes('--help')) {
  process.stdout.write(
    'npm run lockfile [-- --check]: adds optional packages of other platforms to package-lock.json\n',
  )
} else {
  const lock = JSON.parse(readFileSync(FILE, 'utf8'))
  const added = complete(lock)
  if (process.argv.includes('--check')) {
    process.stdout.write(`lockfile: ${added.length} platform packages missing ${added.join(' ')}\n`)
    process.exitCode = added.length === 0 ? 0 : 1
  } else {
    writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`)
    process.stdout.write(`lockfile: added ${added.length} platform packages\n`)
  }
}
