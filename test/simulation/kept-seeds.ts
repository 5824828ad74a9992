import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A seed that failed once, and why: it is run first, for ever. */
export interface KeptSeed {
  readonly seed: string
  /** What was wrong, in a sentence. */
  readonly cause: string
}

/** The kept seeds, oldest first. */
export function keptSeeds(): readonly KeptSeed[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'seeds.json'), 'utf8')) as KeptSeed[]
}
