import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'

/**
 * Path of Surfpool's native module for this machine. Throws with the name of the missing package where there is none:
 * it is an optional dependency, published for few platforms.
 */
export function surfpoolBinary(): string {
  const name = `@solana/surfpool-${platform()}-${arch()}${platform() === 'linux' ? '-gnu' : ''}`
  try {
    return createRequire(import.meta.url).resolve(name)
  } catch {
    throw new Error(`no Solana node for this machine: the optional package ${name} is not installed`)
  }
}
