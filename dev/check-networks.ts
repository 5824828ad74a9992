import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CHAINS } from '#shared/chains/definitions/registry.ts'

/** Networks whose id means nothing else: Bitcoin, Litecoin, Dogecoin, TRON and Solana are also families, with their own code. */
const IDS: readonly string[] = Object.values(CHAINS).flatMap(({ id, family }) => (family === 'evm' ? [id] : []))
/** `base:` also names many other things. */
const KEYS = IDS.filter((id) => id !== 'base')
const LITERAL = new RegExp(`(?<![\\w#/.-])['"](?:${IDS.join('|')})['"]|^\\s*(?:${KEYS.join('|')}):`, 'm')

/** Where a network may be named: its rows, and examples in documents. */
const ROWS = [
  'shared/domain/networks.ts',
  'shared/chains/definitions/',
  'shared/contracts/openapi/examples/',
  'services/api/reference/',
  'shared/config/fields.ts',
]

/** Files of the product that name a network; a network is a row of data, so that adding one needs no change of code. */
export function filesNamingNetworks(files: ReadonlyMap<string, string>): readonly string[] {
  return [...files]
    .filter(([path]) => !ROWS.some((row) => path.startsWith(row)) && !/\.(test|fixture|generated)\.tsx?$/.test(path))
    .filter(([, text]) => LITERAL.test(text))
    .map(([path]) => path)
}

/** Every source file below the folders, by path. */
export function readSources(folders: readonly string[]): ReadonlyMap<string, string> {
  const paths = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => join(folder, name)),
  )
  return new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]))
}

if (process.argv[1]?.endsWith('check-networks.ts')) {
  const found = filesNamingNetworks(readSources(['services', 'shared']))
  for (const path of found) process.stdout.write(`${path} names a network; a network is a row of data\n`)
  process.exitCode = found.length === 0 ? 0 : 1
}
