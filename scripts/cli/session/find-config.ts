import { loadConfig } from '#shared/config/load.ts'
import { type Config, parseConfig } from '#shared/config/schema.ts'
import { readEnvironment } from '../../start/environment.ts'

/** Commands by the settings that they read. */
type InstallationCommand = 'cli' | 'migrate' | 'backup'

/** Data folder of `npm start`. */
const DEVELOPMENT_FOLDER = '.data'

/** `--data DIR` anywhere on this command line. */
function dataOption(args: readonly string[]): string | null {
  const index = args.indexOf('--data')
  return (
    args.find((arg) => arg.startsWith('--data='))?.slice('--data='.length) ??
    (index < 0 ? null : (args[index + 1] ?? null))
  )
}

/** Whether this process was started with the settings of an installation; a store alone, for `npm start`, does not count. */
function isConfigured(name: InstallationCommand): boolean {
  if (!process.env['MONGO_URL']) return false
  if (process.env['PAYMESH_MASTER_KEY']) return true
  return name === 'migrate' && readEnvironment(DEVELOPMENT_FOLDER) === null
}

/**
 * The settings to use: of a named data folder, otherwise of this process's environment, otherwise those that `npm start` left in
 * `.data`. `migrate` reads only the database's settings, `backup` the master keys as well. Throws a readable error when there is no installation.
 */
export function findConfig(name: InstallationCommand): Config {
  const named = dataOption(process.argv)
  if (named === null && isConfigured(name)) return loadConfig(name).config
  const folder = named ?? DEVELOPMENT_FOLDER
  const environment = readEnvironment(folder)
  if (environment === null)
    throw new Error(
      `No installation found in ${folder}. Run \`npm start\` first, set its folder with --data, or set the variables of .env.example.`,
    )
  return parseConfig(environment, name)
}
