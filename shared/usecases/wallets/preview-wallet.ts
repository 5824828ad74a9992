import type { KeyPreview, WalletPreview } from '#shared/contracts/wallet-previews.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { AccountKey, AddressBook, Catalog } from '#shared/ports/chain-catalog.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { checkNetworks } from './add-wallet.ts'
import { familyNetworks, HISTORY_SOURCES, searchableNetworks } from './history-source.ts'
import { keyMaterialId } from './key-material.ts'
import { type MaterialInput, readAddresses, readKeys, refuseKeyFields } from './prepare-material.ts'

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

/**
 * Previews a pasted extended key: its first five addresses, or the first address of each possible script
 * type. Stores nothing. `materialId` is null until a person has chosen. Throws `VALIDATION_ERROR`.
 */
function previewKey(
  deps: { readonly addressBook: AddressBook; readonly catalog: Pick<Catalog, 'asset' | 'hasNode'> },
  input: MaterialInput,
): { readonly materialId: string | null; readonly addresses: WalletPreview['addresses']; readonly key: KeyPreview } {
  const { mode, family } = input
  const keys = readKeys(deps, input)
  const shownOf = ({ xpub, path }: AccountKey, count: number) =>
    deps.addressBook
      .derive(family, mode, xpub, 0, count)
      .map(({ index, address }) => ({ index, path: `${path}/0/${index}`, address }))
  const search = searchOf(deps.catalog, input)
  const key = {
    scriptType: null,
    choices: [],
    search,
    needsStartIndex: mode === 'live' && search.networks.length === 0,
  }
  const [only, ...others] = keys
  if (only !== undefined && others.length === 0) {
    const { fingerprint, scriptType } = only
    const materialId = keyMaterialId({ mode, family, fingerprint })
    return { materialId, addresses: shownOf(only, SHOWN), key: { ...key, scriptType } }
  }
  const choices = keys.flatMap((each) => {
    const { scriptType } = each
    return scriptType === null ? [] : shownOf(each, 1).map(({ path, address }) => ({ scriptType, path, address }))
  })
  return { materialId: null, addresses: [], key: { ...key, choices } }
}

function searchOf(
  catalog: Pick<Catalog, 'asset' | 'hasNode'>,
  { family, mode }: Pick<MaterialInput, 'family' | 'mode'>,
): KeyPreview['search'] {
  const networks = searchableNetworks(catalog, family, mode)
  const unsearched = familyNetworks(catalog, family).filter((network) => !networks.includes(network))
  const source = HISTORY_SOURCES[family]
  const words =
    source === null || networks.length === 0
      ? 'No connected node can check whether this key was used before.'
      : `Paymesh searches for ${source.shown}, up to ${source.gap.toLocaleString('en')} addresses ahead, and continues after the last one it finds. ${source.unseen}`
  return { networks, unsearched, words }
}
