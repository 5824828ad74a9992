import { createHash } from 'node:crypto'
import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { HDKey } from '@scure/bip32'
import type { Family, Mode } from '#shared/domain/enumerations.ts'
import { type ScriptType, scriptTypesOf } from '#shared/domain/script-type.ts'
import { childKeys } from './child-keys.ts'
import { KEY_VERSIONS, type KeyVersion } from './key-versions.ts'
import { PRIVATE_KEY_NAMES, privateForm } from './private-form.ts'
import { refusal } from './refusal.ts'
import { SANDBOX_KEYS } from './sandbox-keys.ts'

const base58check = createBase58check(sha256)

const XPUB = '0488b21e'
const PAYLOAD_BYTES = 78

/** Prefixes that a wallet of the family exports for an account, by mode. */
const ACCEPTED: Readonly<Partial<Record<Family, Readonly<Record<Mode, readonly string[]>>>>> = {
  bitcoin: { live: ['xpub', 'ypub', 'zpub'], test: ['tpub', 'upub', 'vpub'] },
  // Litecoin wallets often keep Bitcoin's version bytes.
  litecoin: { live: ['Ltub', 'Mtub', 'xpub', 'ypub', 'zpub'], test: ['ttub', 'tpub', 'upub', 'vpub'] },
  dogecoin: { live: ['dgub', 'xpub'], test: ['tpub'] },
  // One key form serves main and test networks of account-model chains.
  evm: { live: ['xpub'], test: ['xpub', 'tpub'] },
  tron: { live: ['xpub'], test: ['xpub', 'tpub'] },
}

/** A parsed key, and the choices it leaves open. */
export interface PastedKey {
  /** With the version bytes of `xpub`. */
  readonly xpub: string
  /** The prefix that it was pasted with, such as `zpub`. */
  readonly spelling: string
  /** Possible script types of its addresses: one where its version bytes decide, none where addresses are not scripts. */
  readonly scriptTypes: readonly ScriptType[]
  /** Derivations above it (BIP 32), 0 … 255. */
  readonly depth: number
  /** Its index below its parent (BIP 32): hardened ones are 2³¹ and above. */
  readonly childNumber: number
}

/**
 * Reads an extended public key (BIP 32) as a person pastes it: any SLIP-132 prefix that a wallet of the family and mode
 * exports, of any depth. Throws `PaymeshError('VALIDATION_ERROR')` with path `value` and a text that names the problem;
 * no part of the value is repeated in it, so a private key pasted by mistake goes no further. The public sandbox
 * key of test mode is refused as well.
 */
export function readExtendedKey(family: Family, mode: Mode, value: string): PastedKey {
  const text = value.trim()
  refusePrivate(text)
  const accepted = ACCEPTED[family]
  if (accepted === undefined) {
    throw refusal(`The family ${family} has no extended public keys: add a pool of addresses or a single address.`)
  }
  const payload = decode(text)
  const version = versionOf(payload)
  if (version?.kind === 'multisig') {
    throw refusal(`This is a multi-signature key (${version.name}). Use the key of a single-signature account.`)
  }
  if (version?.kind !== 'public')
    throw refusal('Paymesh does not support this type of extended public key (expected xpub…).')
  if (!accepted[mode].includes(version.name)) throw refusal(wrongForm(family, mode, version, accepted))
  payload.set(Buffer.from(XPUB, 'hex'))
  const xpub = base58check.encode(payload)
  if (Object.values(SANDBOX_KEYS).includes(xpub)) {
    throw refusal('This is the public sandbox key of test mode. Money sent to it is lost.')
  }
  const { depth, index } = parse(xpub)
  const possible = scriptTypesOf(family)
  const scriptTypes = possible.filter((type) => version.scriptType === null || type === version.scriptType)
  return { xpub, spelling: version.name, scriptTypes, depth, childNumber: index }
}

/** Depth and child number of a bare key (`xpub…`); null for any other text. */
export function placeOf(xpub: string): Pick<PastedKey, 'depth' | 'childNumber'> | null {
  try {
    const { depth, index } = HDKey.fromExtendedKey(xpub)
    return { depth, childNumber: index }
  } catch {
    return null
  }
}

/** The fingerprint that identifies key material in an installation. */
export function fingerprintOf(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex').slice(0, 32)
}

/** Public keys `0/from` … `0/(from + count − 1)` below a bare key: the external chain of BIP 44. Compressed: 33 bytes, otherwise 65. */
export function externalKeys(
  xpub: string,
  range: { readonly from: number; readonly count: number; readonly isCompressed: boolean },
): readonly Uint8Array[] {
  return childKeys(parse(xpub).deriveChild(0), range)
}

function wrongForm(
  family: Family,
  mode: Mode,
  { name, network }: KeyVersion,
  accepted: Readonly<Record<Mode, readonly string[]>>,
): string {
  const expected = `expected ${accepted[mode].join(', ')}`
  if (network !== (mode === 'live' ? 'main' : 'test')) {
    return `This key (${name}) is for a ${network} network, but the wallet is for ${mode} mode: ${expected}.`
  }
  return `A wallet of the family ${family} needs a key that begins with ${accepted[mode].join(' or ')}, not ${name}.`
}

function refusePrivate(text: string): void {
  const form = privateForm(text)
  if (form !== null) throw refusal(form)
}

function decode(text: string): Uint8Array {
  let payload: Uint8Array
  try {
    payload = base58check.decode(text)
  } catch {
    // The library's message quotes its input: it must not be attached as a cause.
    throw refusal('This is not an extended public key, or one of its characters is wrong (checksum).')
  }
  const version = versionOf(payload)
  if (version?.kind === 'private') throw refusal(PRIVATE_KEY_NAMES.extended(version.name))
  if (payload.length === PAYLOAD_BYTES && payload[45] === 0) {
    throw refusal(PRIVATE_KEY_NAMES.extended('private bytes under a public prefix'))
  }
  if (payload.length !== PAYLOAD_BYTES) throw refusal('This is not an extended public key (wrong length).')
  return payload
}

function versionOf(payload: Uint8Array): KeyVersion | undefined {
  return KEY_VERSIONS[Buffer.from(payload.subarray(0, 4)).toString('hex')]
}

function parse(xpub: string): HDKey {
  try {
    return HDKey.fromExtendedKey(xpub)
  } catch {
    throw refusal('This extended public key does not contain a valid point.')
  }
}
