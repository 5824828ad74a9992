import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { dirname, join } from 'node:path'

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/**
 * Path of anvil for this machine. The package's own `anvil` command is a Node wrapper whose node keeps running
 * when it is killed, so the binary itself is used. Throws when there is none for this platform.
 */
export function anvilBinary(): string {
  const name = `@foundry-rs/anvil-${platform()}-${ARCHITECTURES[arch()] ?? arch()}`
  const require = createRequire(import.meta.url)
  // The platform package is a dependency of the wrapper, and is resolved from there.
  const fromWrapper = createRequire(require.resolve('@foundry-rs/anvil/package.json'))
  for (const resolver of [fromWrapper, require]) {
    try {
      const path = join(dirname(resolver.resolve(`${name}/package.json`)), 'bin', 'anvil')
      if (existsSync(path)) return path
    } catch {
      // Not reachable from here.
    }
  }
  throw new Error(`no anvil for this machine: the optional package ${name} is not installed`)
}
