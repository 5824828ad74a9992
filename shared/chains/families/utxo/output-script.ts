import { ripemd160 } from '@noble/hashes/legacy.js'
import { sha256 } from '@noble/hashes/sha2.js'
import type { ScriptType } from '#shared/domain/script-type.ts'

/**
 * Output script that pays a compressed public key, as lower-case hex: what scanners match, so no address text is ever
 * compared. P2PKH (BIP 44), P2WPKH in P2SH (BIP 49, BIP 141) or P2WPKH (BIP 84, BIP 141).
 */
export function outputScript(publicKey: Uint8Array, scriptType: ScriptType): string {
  const key = hash160(publicKey)
  if (scriptType === 'p2pkh') return `76a914${key}88ac`
  const program = `0014${key}`
  return scriptType === 'p2wpkh' ? program : `a914${hash160(Buffer.from(program, 'hex'))}87`
}

function hash160(bytes: Uint8Array): string {
  return Buffer.from(ripemd160(sha256(bytes))).toString('hex')
}
