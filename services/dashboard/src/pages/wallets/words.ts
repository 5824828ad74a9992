import type { Family } from '#shared/domain/enumerations.ts'
import type { ScriptType } from '#shared/domain/script-type.ts'

/** Families of addresses as people know them. */
export const FAMILY_WORDS: Readonly<Record<Family, string>> = {
  bitcoin: 'Bitcoin',
  litecoin: 'Litecoin',
  dogecoin: 'Dogecoin',
  evm: 'Ethereum and other EVM networks',
  tron: 'TRON',
  solana: 'Solana',
}

/** What an account key of the family begins with, in live mode; null where there are none. */
export const KEY_WORDS: Readonly<Record<Family, string | null>> = {
  bitcoin: 'zpub, ypub or xpub',
  litecoin: 'zpub, Mtub, Ltub or xpub',
  dogecoin: 'dgub or xpub',
  evm: 'xpub',
  tron: 'xpub',
  solana: null,
}

/** Kinds of addresses that wallets make of a key, as most of them name these. */
export const SCRIPT_WORDS: Readonly<Record<ScriptType, string>> = {
  p2wpkh: 'Native SegWit',
  'p2sh-p2wpkh': 'Nested SegWit',
  p2pkh: 'Legacy',
}

/** Kinds of wallets in a word. */
export const KIND_WORDS = { xpub: 'public key', pool: 'pool of addresses', address: 'one address' } as const
