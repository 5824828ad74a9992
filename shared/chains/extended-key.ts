import { createHash } from 'node:crypto'
import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Family } from '#shared/domain/enumerations.ts'

const base58check = createBase58check(sha256)

/** Version bytes of SLIP-132 and of the coins' own chain parameters, and what kind of key stands behind them. */
const VERSIONS: Readonly<Record<string, 'public' | 'private' | 'multisig'>> = {
  '0488b21e': 'public', // xpub
  '049d7cb2': 'public', // ypub
  '04b24746': 'public', // zpub
  '043587cf': 'public', // tpub
  '044a5262': 'public', // upub
  '045f1cf6': 'public', // vpub
  '019da462': 'public', // Ltub
  '01b26ef6': 'public', // Mtub
  '02facafd': 'public', // dgub
  '0295b43f': 'multisig', // Ypub
  '02aa7ed3': 'multisig', // Zpub
  '024289ef': 'multisig', // Upub
  '02575483': 'multisig', // Vpub
  '0488ade4': 'private', // xprv
  '049d7878': 'private', // yprv
  '04b2430c': 'private', // zprv
  '04358394': 'private', // tprv
  '044a4e28': 'private', // uprv
  '045f18bc': 'private', // vprv
  '0295b005': 'private', // Yprv
  '02aa7a99': 'private', // Zprv
  '024285b5': 'private', // Uprv
  '02575048': 'private', // Vprv
  '019d9cfe': 'private', // Ltpv
  '01b26792': 'private', // Mtpv
  '02fac398': 'private', // dgpv
}

const XPUB = '0488b21e'
const PAYLOAD_BYTES = 78
/** BIP 44: purpose, coin, account; the receiving chain and the index follow below it. */
const ACCOUNT_DEPTH = 3

/** A key that can only derive public keys, in its one normal spelling. */
export interface NormalisedKey {
  readonly xpub: string
  /** First 32 hex digits of the SHA-256 of `xpub`. */
  readonly fingerprint: string
}

/**
 * Reads an account-level extended public key (BIP 32, depth 3) as a person pastes it. Throws
 * `PaymeshError('VALIDATION_ERROR')` with path `value` and a text that names the problem; nothing of the value is ever
 * repeated in it, so a private key pasted by mistake ends here.
 */
export function normaliseExtendedKey(family: Family, value: string): NormalisedKey {
  const text = value.trim()
  if (looksPrivate(text))
    throw refusal(
      'This is a private key or a recovery phrase. Paymesh only ever takes public keys: treat this one as exposed and move its funds.',
    )
  const payload = decode(text)
  const version = Buffer.from(payload.subarray(0, 4)).toString('hex')
  const kind = VERSIONS[version]
  if (kind === 'multisig')
    throw refusal('This is a multi-signature key (Ypub, Zpub). Use the key of a single-signature account.')
  if (kind !== 'public') throw refusal('This is not an extended public key that Paymesh knows (expected xpub…).')
  if (family !== 'evm')
    throw refusal(`Extended public keys of the family ${family} are not supported yet; supported: evm.`)
  if (version !== XPUB) throw refusal('An EVM wallet needs a key that begins with xpub.')
  const xpub = base58check.encode(payload)
  if (parse(xpub).depth !== ACCOUNT_DEPTH) {
    throw refusal("This key is not at account level. Export the key of m/44'/60'/0' (depth 3).")
  }
  return { xpub, fingerprint: fingerprintOf(xpub) }
}

/** The fingerprint under which key material is known in an installation. */
export function fingerprintOf(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex').slice(0, 32)
}

/** Compressed public keys `0/from` … `0/(from + count − 1)` below an account key: the external chain of BIP 44. */
export function externalKeys(xpub: string, from: number, count: number): readonly Uint8Array[] {
  const chain = parse(xpub).deriveChild(0)
  return Array.from({ length: count }, (_, offset) => {
    const key = chain.deriveChild(from + offset).publicKey
    if (key === null) throw new TypeError('a derived key has no public part')
    return key
  })
}

function looksPrivate(text: string): boolean {
  // Raw 32-byte keys, WIF, extended private keys in any spelling, and phrases; checked before anything else may fail on them.
  return (
    /^(0x)?[0-9a-fA-F]{64}$/.test(text) ||
    /^[59KLcTQ6][1-9A-HJ-NP-Za-km-z]{50,51}$/.test(text) ||
    /^[a-z]{1,2}p(rv|v)/i.test(text) ||
    text.split(/\s+/).length >= 12
  )
}

function decode(text: string): Uint8Array {
  let payload: Uint8Array
  try {
    payload = base58check.decode(text)
  } catch {
    // The library's message quotes its input: it must not travel as a cause.
    throw refusal('This is not an extended public key, or a character of it is wrong (checksum).')
  }
  const kind = VERSIONS[Buffer.from(payload.subarray(0, 4)).toString('hex')]
  if (kind === 'private' || (payload.length === PAYLOAD_BYTES && payload[45] === 0)) {
    throw refusal(
      'This is a private key. Paymesh only ever takes public keys: treat this one as exposed and move its funds.',
    )
  }
  if (payload.length !== PAYLOAD_BYTES) throw refusal('This is not an extended public key (wrong length).')
  return payload
}

function parse(xpub: string): HDKey {
  try {
    return HDKey.fromExtendedKey(xpub)
  } catch {
    throw refusal('This extended public key holds no valid point.')
  }
}

function refusal(message: string): PaymeshError {
  return new PaymeshError('VALIDATION_ERROR', { details: [{ path: 'value', message }] })
}
