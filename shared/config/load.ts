import { type Config, parseConfig } from './schema.ts'

/** The configuration of this process, from its environment. Throws `ConfigError` with every fault at once. */
export function loadConfig(): Config {
  return parseConfig(process.env)
}
