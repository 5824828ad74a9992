import { sha256 } from '@noble/hashes/sha2.js'
import { base58, createBase58check } from '@scure/base'
import { checksumAddress } from '#shared/chains/families/evm/address.ts'
import { isOnCurve } from '#shared/chains/families/solana/address.ts'
import type { Family } from '#shared/domain/enumerations.ts'
import { privateForm } from './private-form.ts'
import { refusal } from './refusal.ts'
import { unspendableReason } from './unspendable.ts'

const base58check = createBase58check(sha256)
const TRON_PREFIX = 0x41
const TRON_BYTES = 21
const SOLANA_BYTES = 32

/** An address in canonical spelling, and its bytes as lower-case hex. */
export interface ReceivingAddress {
  readonly address: string
  readonly matchKey: string
}

const PARSERS: Readonly<Partial<Record<Family, (text: string) => ReceivingAddress>>> = {
  evm: parseEvm,
  tron: parseTron,
  solana: parseSolana,
}

/**
 * Reads a receiving address that a person enters. Throws `PaymeshError('VALIDATION_ERROR')` with path `value`
 * and a text that names the problem without repeating the value: for a private key, an address of another family, a wrong or
 * missing checksum, and addresses that nobody can spend from (`unspendableReason`). Bitcoin, Litecoin and
 * Dogecoin take extended public keys only.
 */
export function parseReceivingAddress(family: Family, value: string): ReceivingAddress {
  const text = value.trim()
  const privately = privateForm(text)
  if (privately !== null) throw refusal(privately)
  const parse = PARSERS[family]
  if (parse === undefined) {
    throw refusal(`Add a wallet of the family ${family} by its extended public key, not by addresses.`)
  }
  return spendable(family, parse(text))
}

/** An address that somebody may hold the key of. Throws the refusal of any other one; every address that was read passes here. */
export function spendable(family: Family, read: ReceivingAddress): ReceivingAddress {
  const reason = unspendableReason(family, read)
  if (reason !== null) throw refusal(reason)
  return read
}

function parseEvm(text: string): ReceivingAddress {
  if (/^(T|41)/.test(text)) throw refusal('This looks like a TRON address; an EVM address begins with 0x.')
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw refusal('This is not an EVM address (0x and 40 hex digits).')
  const address = checksumAddress(text)
  if (text === address) return { address, matchKey: address.slice(2).toLowerCase() }
  throw /[A-F]/.test(text) && /[a-f]/.test(text.slice(2))
    ? refusal('One of the characters of this address is wrong (EIP-55 checksum).')
    : refusal('Enter this address with its EIP-55 checksum (upper and lower case), as wallets show it.')
}

function parseTron(text: string): ReceivingAddress {
  if (/^0x/i.test(text)) throw refusal('This is an EVM form of an address; a TRON address begins with T.')
  if (/^41[0-9a-fA-F]{40}$/.test(text))
    throw refusal('This is the hex form of an address. Enter the form that begins with T.')
  let payload: Uint8Array
  try {
    payload = base58check.decode(text)
  } catch {
    throw refusal('This is not a TRON address, or one of its characters is wrong (checksum).')
  }
  if (payload.length !== TRON_BYTES || payload[0] !== TRON_PREFIX) {
    throw refusal('This is an address of another network; a TRON address begins with T.')
  }
  return { address: base58check.encode(payload), matchKey: Buffer.from(payload.subarray(1)).toString('hex') }
}

/** Token accounts and programs are off the curve, so nobody holds a key for them; wallets are on it. */
function parseSolana(text: string): ReceivingAddress {
  if (/^0x/i.test(text)) throw refusal('This is an EVM address; a Solana address is base58 without 0x.')
  let key: Uint8Array
  try {
    key = base58.decode(text)
  } catch {
    throw refusal('This is not a Solana address (base58).')
  }
  if (key.length !== SOLANA_BYTES) throw refusal('This is not a Solana address (32 bytes in base58).')
  if (!isOnCurve(key)) {
    throw refusal(
      "This is a token account or program address (off the curve), not a wallet. Enter the wallet's own address.",
    )
  }
  return { address: base58.encode(key), matchKey: Buffer.from(key).toString('hex') }
}
