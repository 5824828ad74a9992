import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Writes JSON that only this user may read (mode 0600), in one rename: a reader sees the old file or the new one. */
export function writePrivate(file: string, value: unknown): void {
  mkdirSync(dirname(file), { recursive: true })
  const fresh = `${file}.${process.pid}.new`
  writeFileSync(fresh, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  renameSync(fresh, file)
}

/** The value of such a file; null when it does not exist or is no JSON. */
export function readPrivate<T>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}
