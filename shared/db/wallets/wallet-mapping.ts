import type { WatchedAddress } from '#shared/ports/addresses.ts'
import type { AddressDocument } from './wallet-models.ts'

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
