import type { WalletPreview } from '#shared/contracts/wallet-previews.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { checkNetworks } from './add-wallet.ts'
import { type MaterialInput, readAddresses, refuseKeyFields } from './prepare-material.ts'
import { previewKey } from './preview-key.ts'

/** Addresses shown for comparison with the owner's own wallet. */
const SHOWN = 5
/** A smaller pool is used up as soon as this many invoices wait at the same time. */
const SMALL_POOL = 10

const EXCHANGE =
  'Do not use an exchange deposit address. Exchanges change or merge deposits, and their internal transfers never reach the chain. Use a wallet whose keys you control.'
const UNIQUE_AMOUNTS =
  'All invoices share one address and are matched by their exact amounts, so a payment of another amount needs your decision.'

/** Dependencies of previewing a wallet. */
export type PreviewWalletDeps = Uses<'addressBook' | 'catalog' | 'wallets'>

/**
 * Reads pasted material and previews it; stores, logs and repeats nothing of it. Throws `VALIDATION_ERROR` that
 * names the problem, also for a private key of any form.
 */
export async function previewWallet(
  deps: PreviewWalletDeps,
  input: MaterialInput & { readonly networks?: readonly NetworkId[] },
): Promise<WalletPreview> {
  const networks = checkNetworks(deps.catalog, input)
  const { materialId, warnings, ...read } =
    input.kind === 'xpub' ? { ...previewKey(deps, input), listed: null, warnings: [] } : readListShown(deps, input)
  const known = (await deps.wallets.listWallets(input.workspaceId)).find((wallet) => wallet.materialId === materialId)
  const standing = known === undefined ? 'none' : known.disabledAt === null ? 'enabled' : 'disabled'
  return { networks: [...networks], ...read, standing, warnings: [...warnings, EXCHANGE] }
}

function readListShown(deps: PreviewWalletDeps, input: MaterialInput) {
  refuseKeyFields(input)
  const { addresses, repeated, materialId } = readAddresses(deps, input)
  const count = addresses.length
  const few = `${count === 1 ? 'One address is' : `${count} addresses are`} few: each address is used for one open invoice at a time, then cools down.`
  return {
    materialId,
    addresses: addresses.slice(0, SHOWN).map(({ address }, index) => ({ index, path: null, address })),
    key: null,
    listed: { count, repeated },
    warnings: input.kind === 'address' ? [UNIQUE_AMOUNTS] : count < SMALL_POOL ? [few] : [],
  }
}
