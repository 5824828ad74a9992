import type { Family } from '#shared/domain/enumerations.ts'
import { bareScriptType, SCRIPT_TYPES, type ScriptType } from '#shared/domain/script-type.ts'

/** Output descriptors of the external chain (BIP 380, BIP 381, BIP 382), before and after the extended key. */
const DESCRIPTORS: Readonly<Record<ScriptType, readonly [string, string]>> = {
  p2pkh: ['pkh(', '/0/*)'],
  'p2sh-p2wpkh': ['sh(wpkh(', '/0/*))'],
  p2wpkh: ['wpkh(', '/0/*)'],
}

/** An extended key with the script type of its addresses; null where addresses are not scripts. */
export interface KeyParts {
  readonly xpub: string
  readonly scriptType: ScriptType | null
}

/**
 * The text under which a key is sealed and identified: the bare `xpub…` for the first script type of the family, an output descriptor
 * for every other. The version bytes are those of main networks in both
 * modes.
 */
export function keyText(family: Family, { xpub, scriptType }: KeyParts): string {
  if (scriptType === null || scriptType === bareScriptType(family)) return xpub
  const [before, behind] = DESCRIPTORS[scriptType]
  return `${before}${xpub}${behind}`
}

/** The inverse of `keyText`. A text of neither form is treated as a bare key, which libraries then reject. */
export function parseKeyText(family: Family, text: string): KeyParts {
  for (const scriptType of SCRIPT_TYPES) {
    const [before, behind] = DESCRIPTORS[scriptType]
    if (text.startsWith(before) && text.endsWith(behind)) {
      return { xpub: text.slice(before.length, -behind.length), scriptType }
    }
  }
  return { xpub: text, scriptType: bareScriptType(family) }
}
