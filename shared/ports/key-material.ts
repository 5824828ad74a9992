import type { KeyMaterial } from '#shared/db/wallets/wallet-models.ts'

export type { KeyMaterial } from '#shared/db/wallets/wallet-models.ts'

/** Sources of a wallet's addresses: derived from a key, a list of addresses, or one address with unique amounts. */
export const WALLET_KINDS = ['xpub', 'pool', 'address'] as const

export type WalletKind = (typeof WALLET_KINDS)[number]

/**
 * Known use of an extended key before it was added. While it is searched, none of its addresses is offered;
 * indexes below `startIndex` never are.
 */
export type KeyHistory = NonNullable<KeyMaterial['history']>
