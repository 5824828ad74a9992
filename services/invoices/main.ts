import type { StartService } from '#services/context.ts'
import { openParts } from '#services/open-parts.ts'
import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { assembleInvoices } from './assemble.ts'

/** Addresses derived beyond the next one to be offered, for a key that is hardly used; busier ones get more. */
const HEADROOM = 512

/**
 * Applies stored payments and reached deadlines to invoices. Next to it, one process at a time derives
 * receiving addresses ahead, ends expired claims, counts pools, and reports networks that do not advance.
 */
export const start: StartService = async (context) => {
  const parts = openParts(context)
  const stop = await assembleInvoices({
    ...parts,
    catalog: createCatalog(context.config.networks, context.paces),
    addressBook: createAddressBook(),
    secretBox: createSecretBox(context.config.secrets.masterKey),
    markPlaces: context.markPlaces,
    markKeys: createMarkKeys(context.config.secrets.masterKey),
    headroom: HEADROOM,
  })
  return async () => {
    await stop()
    await parts.notifier.close()
  }
}
