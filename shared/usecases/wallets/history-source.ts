import { ASSET_IDS, type Family, type Mode, type NetworkId, networkOf } from '#shared/domain/enumerations.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'

/** How a family's nodes show earlier use of an address. */
export interface HistorySource {
  /**
   * Unused indexes in a row after which a search ends. Wallets look 20 ahead (BIP 44); shops leave longer runs of unpaid
   * invoices.
   */
  readonly gap: number
  /** The data that a node shows, as the end of "Paymesh looks for …". */
  readonly shown: string
  /** The data that a node cannot show, as a sentence. */
  readonly unseen: string
}

const UNSPENT: HistorySource = {
  gap: 1_000,
  shown: 'addresses that hold coins',
  unseen: 'A node does not list addresses whose coins were all spent.',
}
const ACCOUNTS: HistorySource = {
  // Each index costs several requests to each network.
  gap: 200,
  shown: 'addresses that sent something or hold coins or accepted tokens',
  unseen: 'A node does not list addresses that others emptied with an approval or a permit.',
}

/**
 * Evidence of earlier use by family; null where there is none: Dogecoin Core 1.14 cannot list unspent outputs by script, and
 * Solana has no extended keys.
 */
export const HISTORY_SOURCES: Readonly<Record<Family, HistorySource | null>> = {
  bitcoin: UNSPENT,
  litecoin: UNSPENT,
  dogecoin: null,
  evm: ACCOUNTS,
  tron: ACCOUNTS,
  solana: null,
}

/** Networks of a family, in the order of the specification. */
export function familyNetworks(catalog: Pick<Catalog, 'asset'>, family: Family): NetworkId[] {
  return [...new Set(ASSET_IDS.filter((id) => catalog.asset(id).family === family).map(networkOf))]
}

/** Networks of a family whose nodes can search for the earlier use of a key. */
export function searchableNetworks(
  catalog: Pick<Catalog, 'asset' | 'hasNode'>,
  family: Family,
  mode: Mode,
): NetworkId[] {
  if (HISTORY_SOURCES[family] === null) return []
  return familyNetworks(catalog, family).filter((network) => catalog.hasNode(network, mode))
}
