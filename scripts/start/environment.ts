import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { isProcessName, isSettingName, readsSetting } from '#shared/config/process-settings.ts'
import { MERCHANT_KEY } from '#shared/config/schema.ts'
import { readPrivate, writePrivate } from './private-file.ts'

/** Environment variables by name, as a process of this installation receives them. */
export type Environment = Readonly<Record<string, string>>

/** The installation's keys, created once per data folder and stored in it, readable only by this user. */
export function keepSecrets(dataDir: string): Environment {
  const file = join(dataDir, 'secrets.json')
  const stored = readPrivate<Environment>(file)
  if (stored !== null) return stored
  const secret = () => randomBytes(32).toString('base64')
  const secrets = { PAYMESH_MASTER_KEY: secret(), PAYMESH_KEY_PEPPER: secret() }
  writePrivate(file, secrets)
  return secrets
}

/** Settings of Paymesh from the environment of the person who starts it. */
export function givenSettings(env: NodeJS.ProcessEnv): Environment {
  const given = Object.entries(env).filter(
    ([key, value]) => (isSettingName(key) || key.startsWith('PAYMESH_')) && key !== MERCHANT_KEY && value,
  )
  return Object.fromEntries(given as [string, string][])
}

/**
 * The part of an installation's settings for one process: those declared for it, and all unknown ones, so that
 * a misspelt one is refused. Throws for a process without declared settings.
 */
export function environmentFor(process: string, environment: Environment): Environment {
  if (!isProcessName(process)) throw new Error(`no settings are declared for a process ${process}`)
  return Object.fromEntries(
    Object.entries(environment).filter(([key]) => !isSettingName(key) || readsSetting(process, key)),
  )
}

/** Stores the environment of the running services for tools that work next to them, mainly the command line. */
export function writeEnvironment(dataDir: string, environment: Environment): void {
  writePrivate(join(dataDir, 'env.json'), environment)
}

/** Removes that file when the services have stopped. */
export function removeEnvironment(dataDir: string): void {
  rmSync(join(dataDir, 'env.json'), { force: true })
}

/** The environment of the installation that runs on a data folder, or null; in the form that `parseConfig` takes. */
export function readEnvironment(dataDir: string): Environment | null {
  return readPrivate<Environment>(join(dataDir, 'env.json'))
}
