import { isSettingName, type ProcessName, readsSetting, SECRET_SETTINGS, type SettingName } from './process-settings.ts'
import { type Config, parseConfig } from './schema.ts'

/** The configuration of a process, and the secrets it was given but does not use. */
export interface LoadedConfig {
  readonly config: Config
  /** Secrets of other processes found in the environment; their values were not read. */
  readonly unused: readonly SettingName[]
}

/**
 * The configuration of this process from its environment. It removes every secret from the environment: neither a child nor a
 * diagnostic report shows one. Throws `ConfigError` with every fault at once.
 */
export function loadConfig(name: ProcessName): LoadedConfig {
  const unused = SECRET_SETTINGS.filter(
    (setting) => Object.hasOwn(process.env, setting) && !readsSetting(name, setting),
  )
  try {
    const names = Object.keys(process.env).filter((key) => !isSettingName(key) || readsSetting(name, key))
    return { config: parseConfig(Object.fromEntries(names.map((key) => [key, process.env[key]])), name), unused }
  } finally {
    for (const setting of SECRET_SETTINGS) delete process.env[setting]
  }
}
