import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base58 } from '@scure/base'

const SYSTEM_PROGRAM = new Uint8Array(32)
const ascii = new TextEncoder()

/**
 * The `index`-th address below a base public key, computable without a secret: SHA-256(base ‖ seed ‖ System
 * program), the derivation of `Pubkey::create_with_seed`. Coins sent there can be moved by the base key; tokens cannot,
 * so it serves the sandbox only.
 */
export function seededAddress(baseKey: string, index: number): { readonly address: string; readonly matchKey: string } {
  const key = sha256(Uint8Array.of(...base58.decode(baseKey), ...ascii.encode(`paymesh:${index}`), ...SYSTEM_PROGRAM))
  return { address: base58.encode(key), matchKey: Buffer.from(key).toString('hex') }
}

/** Whether an address of Solana is a point of the curve, so that a secret key may belong to it. */
export function isOnCurve(key: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(key)
    return true
  } catch {
    return false
  }
}
