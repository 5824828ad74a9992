import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '#scripts/bundle.mjs'

/** The version of this checkout or image, from its `package.json`; `unknown` when that cannot be read. */
export function versionHere(): string {
  try {
    return String(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version)
  } catch {
    return 'unknown'
  }
}
