// Creates the content of the container image: `node scripts/image.mjs DIR`. Bundles, pages, the few packages that cannot be
// bundled, and the launchers; no source, no tool, no development dependency.
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildBundle, ROOT } from './bundle.mjs'
import { builtPages } from './pages.mjs'

/** Files that the launchers load, and files that people expect in an image. */
const FILES = [
  'package.json',
  'Procfile',
  'LICENSE',
  ...['bundle', 'machine/node-version', 'service', 'paymesh', 'health'].map((name) => `scripts/${name}.mjs`),
]
/** Processes and the command line; the development runner is not included. */
const ENTRIES = ['scripts/service/main.ts', 'scripts/cli/main.ts']
/** Production dependencies with native code that remain packages. */
const PACKAGES = ['@node-rs/argon2', 'sharp']

/** The package and all its dependencies in this installation, including installed optional ones. */
function withDependencies(name, found = new Set()) {
  const folder = join(ROOT, 'node_modules', name)
  if (found.has(name) || !existsSync(folder)) return found
  found.add(name)
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) withDependencies(next, found)
  return found
}

const [target] = process.argv.slice(2)
if (target === undefined) {
  process.stderr.write('usage: node scripts/image.mjs DIR\n')
  process.exit(2)
}
mkdirSync(target, { recursive: true })
for (const file of FILES) {
  mkdirSync(dirname(join(target, file)), { recursive: true })
  cpSync(join(ROOT, file), join(target, file))
}
// Simulators, local chains and embedded stores stay out: the build reads no file of dev/.
await buildBundle(join(target, 'bundle'), ENTRIES, ['#dev/*'])
cpSync(await builtPages(), join(target, 'pages'), { recursive: true })
for (const name of PACKAGES.flatMap((each) => [...withDependencies(each)])) {
  cpSync(join(ROOT, 'node_modules', name), join(target, 'node_modules', name), { recursive: true, dereference: true })
}
process.stdout.write(`${target}\n`)
