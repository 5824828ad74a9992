import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'

const ascii = new TextEncoder()

/** The 20 bytes of an account: last bytes of Keccak-256 over the uncompressed public key (Yellow Paper, appendix F). Takes it compressed, too. */
export function accountBytes(publicKey: Uint8Array): Uint8Array {
  return keccak_256(secp256k1.Point.fromBytes(publicKey).toBytes(false).subarray(1)).subarray(12)
}

/**
 * The account, 20 bytes as hex, whose key made a signature of 65 bytes (r, s and v, as 0 and 1 or as 27 and 28) over a hash. Null when no key
 * can have made it.
 */
export function signingAccount(hash: Uint8Array, signature: Uint8Array): string | null {
  const v = signature[64] ?? 0
  const recovered = Uint8Array.of(v < 27 ? v : v - 27, ...signature.subarray(0, 64))
  try {
    const key = secp256k1.recoverPublicKey(recovered, hash, { prehash: false })
    return Buffer.from(accountBytes(key)).toString('hex')
  } catch {
    return null
  }
}

/** The EIP-55 spelling (mixed-case checksum) of 20 bytes given as hex with or without `0x`. */
export function checksumAddress(hex: string): string {
  const digits = hex.replace(/^0x/, '').toLowerCase()
  const digest = Buffer.from(keccak_256(ascii.encode(digits))).toString('hex')
  let address = '0x'
  for (let index = 0; index < digits.length; index += 1) {
    const digit = digits.charAt(index)
    address += digest.charCodeAt(index) >= '8'.charCodeAt(0) ? digit.toUpperCase() : digit
  }
  return address
}

/** Receiving address of a public key: EIP-55 text, and the 20 bytes as lower-case hex that scanners match. */
export function evmAddress(publicKey: Uint8Array): { readonly address: string; readonly matchKey: string } {
  const matchKey = Buffer.from(accountBytes(publicKey)).toString('hex')
  return { address: checksumAddress(matchKey), matchKey }
}
