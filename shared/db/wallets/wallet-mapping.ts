import { toDate, toDateOrNull, toMs, toMsOrNull } from '#shared/db/connection/dates.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { Wallet } from '#shared/ports/wallets.ts'
import type { AddressDocument, KeyMaterialDocument, WalletDocument } from './wallet-models.ts'

/** Key material as it was stored. */
export function materialFromDocument(stored: KeyMaterialDocument): KeyMaterial {
  const { _id, createdAt, ...same } = stored
  return { id: _id, ...same, createdAt: toMs(createdAt) }
}

/** The stored form of a wallet. */
export function walletToDocument({
  id,
  createdAt,
  disabledAt,
  effectiveAt,
  displacedAt,
  ...same
}: Wallet): WalletDocument {
  return {
    _id: id,
    ...same,
    createdAt: toDate(createdAt),
    disabledAt: toDateOrNull(disabledAt),
    ...(effectiveAt !== undefined && { effectiveAt: toDate(effectiveAt) }),
    ...(displacedAt !== undefined && { displacedAt: toDate(displacedAt) }),
  }
}

/** A wallet as it was stored. */
export function walletFromDocument(stored: WalletDocument): Wallet {
  const { _id, createdAt, disabledAt, effectiveAt, displacedAt, ...same } = stored
  return {
    id: _id,
    ...same,
    createdAt: toMs(createdAt),
    disabledAt: toMsOrNull(disabledAt),
    ...(effectiveAt !== undefined && { effectiveAt: toMs(effectiveAt) }),
    ...(displacedAt !== undefined && { displacedAt: toMs(displacedAt) }),
  }
}

/** The stored form of a derived address, without holders. */
export function addressToDocument({ heldBy: _heldBy, ...address }: WatchedAddress): AddressDocument {
  const watchedOn = [...address.watchedOn].sort()
  return {
    ...address,
    _id: `${address.mode}:${address.family}:${address.matchKey}`,
    watchedOn,
    watchedKey: watchedOn.join(','),
  }
}

/** A stored address without the fields that only its indexes need. */
export function addressFromDocument(stored: Omit<AddressDocument, '_id'>): WatchedAddress {
  const { watchedKey: _watchedKey, packed: _packed, ...address } = stored
  return address
}
