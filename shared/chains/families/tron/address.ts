import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { accountBytes } from '../evm/address.ts'

const base58check = createBase58check(sha256)
const TRON_PREFIX = 0x41

/** Receiving address of a public key (base58check of 0x41 and the 20 account bytes), and those 20 bytes as lower-case hex. */
export function tronAddress(publicKey: Uint8Array): { readonly address: string; readonly matchKey: string } {
  const account = accountBytes(publicKey)
  return {
    address: base58check.encode(Uint8Array.of(TRON_PREFIX, ...account)),
    matchKey: Buffer.from(account).toString('hex'),
  }
}
