import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isProcessName, isSettingName, readsSetting } from '#shared/config/process-settings.ts'
import { writePrivate } from './write-private.ts'

/** Environment variables by name, as a process of this installation receives them. */
export type Environment = Readonly<Record<string, string>>

/** The installation's keys, made once per data folder and kept in it, readable by this user only. */
export function keepSecrets(dataDir: string): Environment {
  const file = join(dataDir, 'secrets.json')
  const stored = readJson(file)
  if (stored !== null) return stored
  const secret = () => randomBytes(32).toString('base64')
  const secrets = { PAYMESH_MASTER_KEY: secret(), PAYMESH_KEY_PEPPER: secret() }
  writePrivate(file, secrets)
  return secrets
}

/** Settings of Paymesh that the person who starts it gave in the environment. */
export function givenSettings(env: NodeJS.ProcessEnv): Environment {
  const given = Object.entries(env).filter(
    ([key, value]) => (isSettingName(key) || key.startsWith('PAYMESH_')) && value,
  )
  return Object.fromEntries(given as [string, string][])
}

/**
 * What one process receives of the settings of an installation: those declared for it, and what is no setting at all, so that
 * a misspelt one is refused. Throws for a process without declared settings.
 */
export function environmentFor(process: string, environment: Environment): Environment {
  if (!isProcessName(process)) throw new Error(`no settings are declared for a process ${process}`)
  return Object.fromEntries(
    Object.entries(environment).filter(([key]) => !isSettingName(key) || readsSetting(process, key)),
  )
}

/** Keeps the environment of the running services for tools that work beside them, the command line above all. */
export function writeEnvironment(dataDir: string, environment: Environment): void {
  writePrivate(join(dataDir, 'env.json'), environment)
}

/** Takes that file away when the services have stopped. */
export function removeEnvironment(dataDir: string): void {
  rmSync(join(dataDir, 'env.json'), { force: true })
}

/** The environment of the installation that runs on a data folder, or null; `parseConfig` takes it as it is. */
export function readEnvironment(dataDir: string): Environment | null {
  return readJson(join(dataDir, 'env.json'))
}

function readJson(file: string): Environment | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}
