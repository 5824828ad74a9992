import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { ChainClient } from '#shared/ports/scanning.ts'
import type { KeyMaterial, WalletRepository, WatchedAddress } from '#shared/ports/wallets.ts'
import { HISTORY_SOURCES } from './history-source.ts'

/** Rows read at once. */
const PAGE = 500

/** What searching for the earlier use of keys needs. */
export interface SearchKeyHistoryDeps {
  readonly wallets: Pick<WalletRepository, 'listMaterials' | 'addressesAt' | 'recordUsedIndex' | 'endHistorySearch'>
}

/** One network whose nodes are asked. */
export interface HistoryNetwork {
  readonly mode: Mode
  readonly network: NetworkId
  readonly client: Pick<ChainClient, 'used'>
}

/** Networks, as `<mode>:<network>`, that some key waits for. */
export async function awaitedNetworks({
  wallets,
}: Pick<SearchKeyHistoryDeps, 'wallets'>): Promise<ReadonlySet<string>> {
  const materials = await wallets.listMaterials()
  return new Set(materials.flatMap(({ mode, history }) => (history?.waitingFor ?? []).map((each) => `${mode}:${each}`)))
}

/**
 * Asks one network about every key that waits for it: which of the indexes from the start on, as many as the search looks
 * ahead, were used. The highest one moves the start behind it, for all networks; when there is none, this network's search
 * ends. Looks only at addresses that the network's scanner watches already, so that no payment falls between both. Throws what
 * the node throws: an unclear answer changes nothing, and the next round asks again. Returns how many keys changed.
 */
export async function searchKeyHistories(
  deps: SearchKeyHistoryDeps,
  source: HistoryNetwork,
  shouldStop: () => boolean = () => false,
): Promise<number> {
  let changed = 0
  let failure: unknown = null
  for (const material of await deps.wallets.listMaterials()) {
    if (shouldStop()) break
    if (material.mode !== source.mode || !material.history?.waitingFor.includes(source.network)) continue
    try {
      if (await searchOne(deps, source, material, material.history.startIndex)) changed += 1
    } catch (error) {
      // One key that a node cannot answer for holds up no other.
      failure ??= error
    }
  }
  if (failure !== null) throw failure
  return changed
}

async function searchOne(
  { wallets }: SearchKeyHistoryDeps,
  { network, client }: HistoryNetwork,
  { id, family, derivedCount }: KeyMaterial,
  from: number,
): Promise<boolean> {
  const gap = HISTORY_SOURCES[family]?.gap ?? 0
  if (client.used === undefined || gap === 0 || derivedCount < from + gap) return false
  // An index is missing where the installation uses its address in another way: then it is not offered from here either.
  const rows = await rowsAt(wallets, id, from, gap)
  if (rows.some(({ watchedOn }) => !watchedOn.includes(network))) return false
  const used = await client.used(rows)
  const last = rows.findLast(({ matchKey }) => used.has(matchKey))
  return last === undefined ? wallets.endHistorySearch(id, network, from) : wallets.recordUsedIndex(id, last.index)
}

async function rowsAt(
  wallets: SearchKeyHistoryDeps['wallets'],
  materialId: string,
  from: number,
  count: number,
): Promise<readonly WatchedAddress[]> {
  const rows: WatchedAddress[] = []
  for (let page = from; page < from + count; page += PAGE) {
    const indexes = Array.from({ length: Math.min(PAGE, from + count - page) }, (_, offset) => page + offset)
    rows.push(...(await wallets.addressesAt(materialId, indexes)))
  }
  return rows
}
