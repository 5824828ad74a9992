import { createHash } from 'node:crypto'
import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { HDKey } from '@scure/bip32'
import type { Family, Mode } from '#shared/domain/enumerations.ts'
import { type ScriptType, scriptTypesOf } from '#shared/domain/script-type.ts'
import { childKeys } from './child-keys.ts'
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

/** Meaning of the four version bytes of an extended key. */
interface KeyVersion {
  /** The letters that its base58 text begins with. */
  readonly name: string
  readonly kind: 'public' | 'private' | 'multisig'
  readonly network: 'main' | 'test'
  /** The one script type that wallets export under these bytes; null where wallets use them for several. */
  readonly scriptType: ScriptType | null
}

const version = (
  name: string,
  kind: KeyVersion['kind'],
  network: KeyVersion['network'],
  scriptType: ScriptType | null = null,
): KeyVersion => ({ name, kind, network, scriptType })

/** Version bytes (hex) of SLIP-132 and of the coins' own chain parameters. */
const KEY_VERSIONS: Readonly<Record<string, KeyVersion>> = {
  '0488b21e': version('xpub', 'public', 'main'),
  '049d7cb2': version('ypub', 'public', 'main', 'p2sh-p2wpkh'),
  '04b24746': version('zpub', 'public', 'main', 'p2wpkh'),
  '043587cf': version('tpub', 'public', 'test'),
  '044a5262': version('upub', 'public', 'test', 'p2sh-p2wpkh'),
  '045f1cf6': version('vpub', 'public', 'test', 'p2wpkh'),
  '019da462': version('Ltub', 'public', 'main'),
  '01b26ef6': version('Mtub', 'public', 'main', 'p2sh-p2wpkh'),
  '0436f6e1': version('ttub', 'public', 'test'),
  '02facafd': version('dgub', 'public', 'main', 'p2pkh'),
  '0295b43f': version('Ypub', 'multisig', 'main'),
  '02aa7ed3': version('Zpub', 'multisig', 'main'),
  '024289ef': version('Upub', 'multisig', 'test'),
  '02575483': version('Vpub', 'multisig', 'test'),
  '0488ade4': version('xprv', 'private', 'main'),
  '049d7878': version('yprv', 'private', 'main'),
  '04b2430c': version('zprv', 'private', 'main'),
  '04358394': version('tprv', 'private', 'test'),
  '044a4e28': version('uprv', 'private', 'test'),
  '045f18bc': version('vprv', 'private', 'test'),
  '0295b005': version('Yprv', 'private', 'main'),
  '02aa7a99': version('Zprv', 'private', 'main'),
  '024285b5': version('Uprv', 'private', 'test'),
  '02575048': version('Vprv', 'private', 'test'),
  '019d9cfe': version('Ltpv', 'private', 'main'),
  '01b26792': version('Mtpv', 'private', 'main'),
  '0436ef7d': version('ttpv', 'private', 'test'),
  '02fac398': version('dgpv', 'private', 'main'),
}
