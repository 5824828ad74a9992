import { loadConfig } from '#shared/config/load.ts'
import { type Config, parseConfig } from '#shared/config/schema.ts'
import { readEnvironment } from '../../start/environment.ts'

/** What `npm start` keeps its data in. */
const DEVELOPMENT_FOLDER = '.data'

/** `--data DIR` of this command line, wherever it stands. */
function dataOption(args: readonly string[]): string | null {
  const index = args.indexOf('--data')
  return (
    args.find((arg) => arg.startsWith('--data='))?.slice('--data='.length) ??
    (index < 0 ? null : (args[index + 1] ?? null))
  )
}

/** Whether this process was started with the settings of an installation; a store for `npm start` alone names none. */
function isConfigured(name: 'cli' | 'migrate'): boolean {
  if (!process.env['MONGO_URL']) return false
  if (process.env['PAYMESH_MASTER_KEY']) return true
  return name === 'migrate' && readEnvironment(DEVELOPMENT_FOLDER) === null
}

/**
 * The settings to work with: of a named data folder, else of this process's environment, else what `npm start` left in
 * `.data`. `migrate` reads the database's settings only. Throws a text for people when there is no installation.
 */
export function findConfig(name: 'cli' | 'migrate'): Config {
  const named = dataOption(process.argv)
  if (named === null && isConfigured(name)) return loadConfig(name).config
  const folder = named ?? DEVELOPMENT_FOLDER
  const environment = readEnvironment(folder)
  if (environment === null)
    throw new Error(
      `No installation was found in ${folder}. Run \`npm start\` first, name its folder with --data, or set the variables of .env.example.`,
    )
  return parseConfig(environment, name)
}
