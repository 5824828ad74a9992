import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { ChainClient } from '#shared/ports/scanning.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { HISTORY_SOURCES } from './history-source.ts'

/** Rows read in one query. */
const PAGE = 500

/** Dependencies of searching for the earlier use of keys. */
export type SearchKeyHistoryDeps = Uses<'wallets'>

/** One network whose nodes are queried. */
export interface HistoryNetwork {
  readonly mode: Mode
  readonly network: NetworkId
  readonly client: Pick<ChainClient, 'used'>
}

/** Networks, as `<mode>:<network>`, that a key waits for. */
export async function awaitedNetworks({
  wallets,
}: Pick<SearchKeyHistoryDeps, 'wallets'>): Promise<ReadonlySet<string>> {
  // Mostly no key is new.
  const materials = (await wallets.isAnyAwaited()) ? await wallets.listMaterials() : []
  return new Set(materials.flatMap(({ mode, history }) => (history?.waitingFor ?? []).map((each) => `${mode}:${each}`)))
}

/**
 * Queries one network about every key that waits for it: which indexes from the start on, as many as the search reads
 * ahead, were used. The highest one moves the start behind it, for all networks; when there is none, this network's search
 * ends. Reads only addresses that the network's scanner already watches, so that no payment falls between the two. Throws the
 * node's errors: an unclear response changes nothing, and the next round queries again. Returns how many keys changed.
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
      // A key that a node cannot check does not delay others.
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
  // An index is missing where the installation uses its address in another way: then this key does not offer it either.
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
