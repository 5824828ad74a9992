import type { KeyPreview, WalletPreview } from '#shared/contracts/wallet-previews.ts'
import type { AccountKey, AddressBook, Catalog } from '#shared/ports/chain-catalog.ts'
import { familyNetworks, HISTORY_SOURCES, searchableNetworks } from './history-source.ts'
import { keyMaterialId } from './key-material.ts'
import { type MaterialInput, readKeys } from './prepare-material.ts'

/** Addresses shown for comparison with the owner's own wallet. */
const SHOWN = 5

/**
 * Previews a pasted extended key: its first five addresses, or the first address of each possible script
 * type. Stores nothing. `materialId` is null until a person has chosen. Throws `VALIDATION_ERROR`.
 */
export function previewKey(
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
