import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { accountBytes } from '../evm/address.ts'

const base58check = createBase58check(sha256)
const TRON_PREFIX = 0x41
const ACCOUNT_BYTES = 20

/** Receiving address of a public key (base58check of 0x41 and the 20 account bytes), and those 20 bytes as lower-case hex. */
export function tronAddress(publicKey: Uint8Array): { readonly address: string; readonly matchKey: string } {
  const matchKey = Buffer.from(accountBytes(publicKey)).toString('hex')
  return { address: formatAccount(matchKey), matchKey }
}

/** The `T…` spelling of 20 account bytes given as hex. */
export function formatAccount(matchKey: string): string {
  return base58check.encode(Uint8Array.of(TRON_PREFIX, ...Buffer.from(matchKey, 'hex')))
}

/** The 20 account bytes of a `T…` address as lower-case hex. Throws when checksum, prefix or length is wrong. */
export function parseAccount(address: string): string {
  const bytes = base58check.decode(address)
  if (bytes.length !== ACCOUNT_BYTES + 1 || bytes[0] !== TRON_PREFIX) throw new TypeError('not a TRON address')
  return Buffer.from(bytes.subarray(1)).toString('hex')
}
