import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { SANDBOX_KEYS } from '#shared/chains/addresses/sandbox-keys.ts'
import type { AddressBook, DerivedAddress } from '#shared/ports/chain-catalog.ts'

const SANDBOX = new Set<string>(Object.values(SANDBOX_KEYS))
const book = createAddressBook()
/** Addresses of the sandbox keys that a file of this worker derived. */
const known = new Map<string, DerivedAddress>()

/**
 * The product's own address book, which derives an address of a sandbox key once for all tests of a worker: nearly every test needs the
 * same 24 of each family. Addresses of other keys are derived each time they are asked for.
 */
export function sandboxAddressBook(): AddressBook {
  return {
    ...book,
    derive: (family, mode, xpub, from, count) => {
      if (!SANDBOX.has(xpub)) return book.derive(family, mode, xpub, from, count)
      const keys = Array.from({ length: count }, (_, offset) => `${family} ${mode} ${xpub} ${from + offset}`)
      if (keys.some((key) => !known.has(key))) {
        for (const [offset, address] of book.derive(family, mode, xpub, from, count).entries()) {
          known.set(keys[offset] ?? '', address)
        }
      }
      return keys.flatMap((key) => known.get(key) ?? [])
    },
  }
}
