import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../../..')

/** A bug that is planted to see whether the simulation finds it. */
export interface Mutant {
  readonly name: string
  readonly file: string
  /** Text that is in the file exactly once. */
  readonly find: string
  readonly replace: string
  /** What the bug does, in one sentence. */
  readonly what: string
  /** A seed that finds it, tried first; absent where one of the first few does. */
  readonly seed?: string
}

/** The text of a mutant's file with its bug. Throws when the place is missing or not the only one. */
export function planted(mutant: Mutant): string {
  const text = readFileSync(join(ROOT, mutant.file), 'utf8')
  const parts = text.split(mutant.find)
  if (parts.length !== 2)
    throw new Error(`mutant ${mutant.name}: its text is in ${mutant.file} ${parts.length - 1} times`)
  return parts.join(mutant.replace)
}
