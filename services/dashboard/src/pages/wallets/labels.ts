import type { Family } from '#shared/domain/enumerations.ts'
import type { ScriptType } from '#shared/domain/script-type.ts'

/** Names of address families. */
export const FAMILY_LABELS: Readonly<Record<Family, string>> = {
  bitcoin: 'Bitcoin',
  litecoin: 'Litecoin',
  dogecoin: 'Dogecoin',
  evm: 'Ethereum and other EVM networks',
  tron: 'TRON',
  solana: 'Solana',
}

/** Prefixes of a family's account keys in live mode; null where there are none. */
export const KEY_LABELS: Readonly<Record<Family, string | null>> = {
  bitcoin: 'zpub, ypub or xpub',
  litecoin: 'zpub, Mtub, Ltub or xpub',
  dogecoin: 'dgub or xpub',
  evm: 'xpub',
  tron: 'xpub',
  solana: null,
}

/** Names of address types, as most wallets use them. */
export const SCRIPT_LABELS: Readonly<Record<ScriptType, string>> = {
  p2wpkh: 'Native SegWit',
  'p2sh-p2wpkh': 'Nested SegWit',
  p2pkh: 'Legacy',
}

/** Names of the kinds of wallets. */
export const KIND_LABELS = { xpub: 'public key', pool: 'address pool', address: 'single address' } as const
