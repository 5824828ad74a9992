import type { Family, Mode } from '#shared/domain/enumerations.ts'
import type { ScriptType } from '#shared/domain/script-type.ts'
import type { AccountKey, KeyRequest } from '#shared/ports/chain-catalog.ts'
import { fingerprintOf, type PastedKey, placeOf, readExtendedKey } from './extended-key.ts'
import { keyText, parseKeyText } from './key-text.ts'
import { refusal } from './refusal.ts'

const HARDENED = 0x80000000
/** BIP 44: purpose, coin and account; the receiving chain and the index follow below it. */
const ACCOUNT_DEPTH = 3
/** Purposes of BIP 44, BIP 49 and BIP 84. */
const PURPOSES: Readonly<Record<ScriptType, number>> = { p2pkh: 44, 'p2sh-p2wpkh': 49, p2wpkh: 84 }
/** Coin types of SLIP-44. Test networks of the Bitcoin family share 1. */
const COIN_TYPES: Readonly<Record<Family, number>> = {
  bitcoin: 0,
  litecoin: 2,
  dogecoin: 3,
  evm: 60,
  tron: 195,
  solana: 501,
}
const TEST_COIN_TYPE = 1

/**
 * Every account that a pasted key may denote, one for each possible script type, in the order in which a person is
 * asked. Throws `VALIDATION_ERROR` with path `value`, `scriptType` or `path`.
 */
export function accountKeys(
  family: Family,
  mode: Mode,
  value: string,
  request: KeyRequest = {},
): readonly AccountKey[] {
  const pasted = readExtendedKey(family, mode, value)
  const types = typesOf(pasted, request.scriptType, family)
  const known = checkPlace(family, mode, pasted, request.path)
  return types.map((scriptType) => {
    const xpub = keyText(family, { xpub: pasted.xpub, scriptType })
    const path = known ?? usualPath(family, mode, scriptType, pasted.childNumber)
    return { xpub, fingerprint: fingerprintOf(xpub), scriptType, path }
  })
}

/**
 * The usual position of a stored key (`keyText`), which its depth and child number decide; null where they fit no usual place, and
 * for a base key that is not derived (BIP 32).
 */
export function accountPath(family: Family, mode: Mode, text: string): string | null {
  const { xpub, scriptType } = parseKeyText(family, text)
  const place = placeOf(xpub)
  if (place === null) return null
  if (place.depth === ACCOUNT_DEPTH) return usualPath(family, mode, scriptType, place.childNumber)
  return scriptType === null ? null : electrumPath(place.depth, place.childNumber)
}

function typesOf(
  { spelling, scriptTypes }: PastedKey,
  requested: ScriptType | undefined,
  family: Family,
): readonly (ScriptType | null)[] {
  if (requested === undefined) return scriptTypes.length === 0 ? [null] : scriptTypes
  if (scriptTypes.includes(requested)) return [requested]
  throw refusal(
    scriptTypes.length === 0
      ? `Keys of the family ${family} have no script type. Leave it out.`
      : `This key (${spelling}) belongs to an account with ${scriptTypes.join(', ')} addresses. Export the key of the other account, or leave out the script type.`,
    'scriptType',
  )
}

/**
 * The path of a key at a place other than a BIP 44 account, or that a person entered; null for the usual place. Addresses
 * are `0/i` below the key at every accepted place.
 */
function checkPlace(
  family: Family,
  mode: Mode,
  { depth, childNumber, scriptTypes }: PastedKey,
  requested: string | undefined,
): string | null {
  const path = requested === undefined ? null : parsePath(requested)
  const electrum = scriptTypes.length === 0 ? null : electrumPath(depth, childNumber)
  if (depth !== ACCOUNT_DEPTH && electrum === null) {
    const usual = usualPath(family, mode, scriptTypes[0] ?? null, HARDENED)
    throw refusal(`This key is not at account level. Export the key of ${usual} (depth 3).`)
  }
  if (path === null && electrum !== null) {
    throw refusal(
      `This key lies at ${electrum}, where Electrum keeps its own wallets, and not at account level. If it is the master public key of an Electrum wallet, whose receiving addresses are 0/0, 0/1, … below it, give the path ${electrum} as well. For any other wallet, export the key of the account (depth 3).`,
      'path',
    )
  }
  if (path !== null && !fits(path, depth, childNumber)) {
    throw refusal(
      `This key is not at that path: it is at depth ${depth}, as child ${childWord(childNumber)} of its parent.`,
      'path',
    )
  }
  return path === null ? null : formatPath(path)
}

/** Where Electrum's own seeds keep their wallets (electrum/keystore.py): standard ones at `m`, SegWit ones at `m/0'`. */
function electrumPath(depth: number, childNumber: number): string | null {
  if (depth === 0) return 'm'
  return depth === 1 && childNumber === HARDENED ? "m/0'" : null
}

function usualPath(family: Family, mode: Mode, scriptType: ScriptType | null, childNumber: number): string {
  const purpose = scriptType === null ? PURPOSES.p2pkh : PURPOSES[scriptType]
  const coin = scriptType !== null && mode === 'test' ? TEST_COIN_TYPE : COIN_TYPES[family]
  return `m/${purpose}'/${coin}'/${childWord(childNumber)}`
}

/** Child numbers from the master key down. */
function parsePath(text: string): readonly number[] {
  const [root, ...steps] = text.trim().split('/')
  const numbers = steps.map((step) => {
    const [, digits, mark] = /^(\d{1,10})(['hH]?)$/.exec(step) ?? []
    const number = digits === undefined ? Number.NaN : Number(digits)
    return number < HARDENED ? number + (mark === '' ? 0 : HARDENED) : Number.NaN
  })
  if (root !== 'm' || numbers.some(Number.isNaN)) {
    throw refusal("This is not a BIP 32 path, such as m, m/0' or m/84'/0'/0'.", 'path')
  }
  return numbers
}

function fits(path: readonly number[], depth: number, childNumber: number): boolean {
  return path.length === depth && (path.at(-1) ?? 0) === childNumber
}

function formatPath(path: readonly number[]): string {
  return ['m', ...path.map(childWord)].join('/')
}

function childWord(childNumber: number): string {
  return childNumber < HARDENED ? String(childNumber) : `${childNumber - HARDENED}'`
}
