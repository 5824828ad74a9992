import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { ScriptType } from '#shared/domain/script-type.ts'
import type { AccountKey, AddressBook, Catalog } from '#shared/ports/chain-catalog.ts'
import { familyNetworks, HISTORY_SOURCES, searchableNetworks } from './history-source.ts'
import { keyMaterialId } from './key-material.ts'
import { type MaterialInput, readKeys } from './prepare-material.ts'

/** Addresses shown for comparison with the owner's own wallet. */
const SHOWN = 5

/** An address with its place in the owner's wallet. */
export interface ShownAddress {
  readonly index: number
  /** Null for listed addresses. */
  readonly path: string | null
  readonly address: string
}

/** What an extended key would be. */
export interface KeyPreview {
  /** Null where addresses are no output scripts, and as long as a person has to choose. */
  readonly scriptType: ScriptType | null
  /** What the key may be and the first address of each; empty when nothing is left to choose. */
  readonly choices: readonly { readonly scriptType: ScriptType; readonly path: string; readonly address: string }[]
  /** How earlier use of the key is found. */
  readonly search: {
    readonly networks: readonly NetworkId[]
    /** Networks of the family that no node shows. */
    readonly unsearched: readonly NetworkId[]
    /** What is looked for, and what is not seen, as sentences. */
    readonly words: string
  }
  /** Nothing can be searched: a key that is new here is refused without a start index. */
  readonly needsStartIndex: boolean
}

/**
 * Shows what a pasted extended key would be: its first five addresses, or the first address of each script type that it may
 * stand for. Stores nothing. `materialId` is null as long as a person has to choose. Throws `VALIDATION_ERROR`.
 */
export function previewKey(
  deps: { readonly addressBook: AddressBook; readonly catalog: Pick<Catalog, 'asset' | 'hasNode'> },
  input: MaterialInput,
): { readonly materialId: string | null; readonly addresses: readonly ShownAddress[]; readonly key: KeyPreview } {
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
      ? 'No node can be asked whether this key was used before.'
      : `Paymesh looks for ${source.shown} and goes on behind the last one, looking up to ${source.gap.toLocaleString('en')} addresses ahead. ${source.unseen}`
  return { networks, unsearched, words }
}
