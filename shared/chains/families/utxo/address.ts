import { ripemd160 } from '@noble/hashes/legacy.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bech32, createBase58check } from '@scure/base'
import type { AddressPrefix } from '../../chain.ts'

const base58check = createBase58check(sha256)
const WITNESS_V0 = 0

/**
 * Receiving address of a compressed public key, and its output script as lower-case hex (what scanners match, so no
 * address text is ever compared). Bech32 prefixes give P2WPKH (BIP 84, BIP 173), base58 prefixes P2PKH (BIP 44).
 */
export function utxoAddress(
  publicKey: Uint8Array,
  prefix: AddressPrefix,
): { readonly address: string; readonly matchKey: string } {
  const digest = ripemd160(sha256(publicKey))
  const hex = Buffer.from(digest).toString('hex')
  return prefix.kind === 'bech32'
    ? { address: bech32.encode(prefix.hrp, [WITNESS_V0, ...bech32.toWords(digest)]), matchKey: `0014${hex}` }
    : { address: base58check.encode(Uint8Array.of(prefix.version, ...digest)), matchKey: `76a914${hex}88ac` }
}
