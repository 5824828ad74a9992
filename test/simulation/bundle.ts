import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { type Mutant, planted } from './mutants/mutant.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const CACHE = join(ROOT, '.cache', 'simulation')

/**
 * Bundles the simulation with the product's sources as they are, or with one planted bug, and returns the file to import.
 * Equal sources find their bundle again. Packages stay outside: they are not what is tested.
 */
export async function bundleSimulation(mutant: Mutant | null = null): Promise<string> {
  const result = await build({
    absWorkingDir: ROOT,
    entryPoints: ['test/simulation/seed-worker.ts'],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    packages: 'external',
    sourcemap: 'inline',
    sourcesContent: false,
    logLevel: 'error',
    plugins: [ownImports, ...(mutant === null ? [] : [plant(mutant)])],
  })
  const [file] = result.outputFiles
  if (file === undefined) throw new Error('esbuild wrote nothing')
  const name = createHash('sha256').update(file.contents).digest('hex').slice(0, 16)
  const path = join(CACHE, `${name}.mjs`)
  if (!existsSync(path)) {
    mkdirSync(CACHE, { recursive: true })
    const fresh = `${path}.${process.pid}.new`
    writeFileSync(fresh, file.contents)
    renameSync(fresh, path)
  }
  return pathToFileURL(path).href
}

/** `#shared/…` and its like are this repository's own files, not packages. */
const ownImports: Plugin = {
  name: 'own-imports',
  setup({ onResolve }) {
    // Below this file there are sockets; in the simulation, simulated nodes.
    onResolve({ filter: /^(\.|\.\.\/\.\.\/nodes|#shared\/chains\/nodes)\/http-endpoint\.ts$/ }, ({ path, importer }) =>
      importer.includes('/test/simulation/') && !path.startsWith('#')
        ? undefined
        : { path: join(ROOT, 'test/simulation/wire/http-endpoint.ts') },
    )
    onResolve({ filter: /^#(shared|services|scripts|clients|test)\// }, ({ path }) => ({
      path: join(ROOT, path.slice(1)),
    }))
  },
}

/** Replaces one piece of text of one file; throws unless it is there exactly once. */
function plant(mutant: Mutant): Plugin {
  const target = join(ROOT, mutant.file)
  return {
    name: 'mutant',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) =>
        path === target ? { contents: planted(mutant), loader: 'ts' as const } : undefined,
      )
    },
  }
}
