import type { Family, Mode } from '#shared/domain/enumerations.ts'

/** The id under which the proof of one address is stored. */
export function addressSubject(mode: Mode, family: Family, matchKey: string): string {
  return `address:${mode}:${family}:${matchKey}`
}

/** The id under which the proof of an extended key is stored. */
export function keySubject(materialId: string): string {
  return `key:${materialId}`
}
