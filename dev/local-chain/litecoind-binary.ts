import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * Path of litecoind: `LITECOIND_BINARY`, otherwise the first one on PATH. Null when there is none, or when the one in the variable
 * cannot be run.
 */
export function findLitecoind(): string | null {
  const named = process.env['LITECOIND_BINARY']
  const candidates =
    named !== undefined && named !== ''
      ? [named]
      : (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'litecoind'))
  return candidates.find(canRun) ?? null
}

/** Path of litecoind. Throws with what to install when there is none. */
export function litecoindBinary(): string {
  const path = findLitecoind()
  if (path !== null) return path
  throw new Error(
    'litecoind was not found: install it (Debian and Ubuntu: apt install litecoind; others: https://litecoin.org) or set LITECOIND_BINARY to its path',
  )
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
