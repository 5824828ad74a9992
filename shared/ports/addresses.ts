import type { WatchedAddress } from '#shared/db/wallets/wallet-models.ts'

export type { WatchedAddress } from '#shared/db/wallets/wallet-models.ts'

/** An address in a list that a person enters. `materialId` identifies its kind of use: it is the same for all who use it that way. */
export type ListedAddress = Pick<WatchedAddress, 'mode' | 'family' | 'matchKey' | 'address' | 'materialId'>
