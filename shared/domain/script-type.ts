import type { Family } from './enumerations.ts'

/**
 * Output scripts of single-signature accounts of the Bitcoin family: P2PKH (BIP 44), P2WPKH nested in P2SH (BIP 49) and
 * native P2WPKH (BIP 84). In the order in which they are offered to a person, the most common first.
 */
export const SCRIPT_TYPES = ['p2wpkh', 'p2sh-p2wpkh', 'p2pkh'] as const
export type ScriptType = (typeof SCRIPT_TYPES)[number]

/** Script types that accounts of a family may have; empty where addresses are not scripts. Dogecoin has no SegWit. */
export function scriptTypesOf(family: Family): readonly ScriptType[] {
  if (family === 'bitcoin' || family === 'litecoin') return SCRIPT_TYPES
  return family === 'dogecoin' ? ['p2pkh'] : []
}

/**
 * Script type of a bare extended key: the first of the family. Null where addresses are not scripts. Must never change, because issued
 * addresses depend on it.
 */
export function bareScriptType(family: Family): ScriptType | null {
  return scriptTypesOf(family)[0] ?? null
}
