import type { Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { ColdWatches, WatchIndex } from '#shared/ports/scanning.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { everyAddress } from './cold-watches.ts'

const MARK_BATCH = 1_000

/** Dependencies of keeping a watch index current. */
export type WatchFeedDeps = Uses<'wallets' | 'metrics' | 'logger'>

/** The mode and network whose addresses one scanner watches. */
export interface WatchScope {
  readonly mode: Mode
  readonly family: Family
  readonly network: NetworkId
}

/**
 * Loads every known address into the index: hot ones into memory, the others as a filter. A scanner completes this before it reads its first
 * block. Hot addresses are read first: one that is moved meanwhile was packed before it was marked, so it is in what is read next. Where packs are
 * damaged, every address is loaded.
 */
export async function hydrateWatches(deps: WatchFeedDeps, scope: WatchScope, index: WatchIndex): Promise<void> {
  const { cold } = index
  if (cold === undefined) await load(deps, scope, index)
  else await cold.everyHot(index.add)
  if (cold !== undefined && !(await readPacks(deps, scope, cold))) {
    const { mode, family } = scope
    deps.logger.error({ mode, family }, 'packs of watched addresses are missing: every address is held in memory')
    await load(deps, scope, index)
  }
  report(deps, scope, index)
}

/** False when packs are damaged, which an alert reports. */
async function readPacks(deps: WatchFeedDeps, { mode, network }: WatchScope, cold: ColdWatches): Promise<boolean> {
  const isWhole = (await cold.refresh()) === 'whole'
  deps.metrics.gauge('scanner_watch_packs_damaged', isWhole ? 0 : 1, { mode, network })
  return isWhole
}

async function load(deps: WatchFeedDeps, scope: WatchScope, index: WatchIndex): Promise<void> {
  for await (const matchKey of everyAddress(deps, scope)) index.add(matchKey)
}

/** Reads what was packed since and drops it from memory. Only memory depends on it: an index that is behind holds more addresses. */
export async function followPacks(deps: WatchFeedDeps, scope: WatchScope, index: WatchIndex): Promise<void> {
  if (index.cold === undefined || !(await readPacks(deps, scope, index.cold))) return
  index.shrink?.()
  report(deps, scope, index)
}

/**
 * Adds addresses that are not marked as watched on this network and marks them: only then may they be issued, so
 * no payment to them can be in a block that was scanned without them. `mayMark` is called between reading and
 * marking: a scanner that lost its lease must not mark, because its successor may not have the row. Returns how many.
 */
export async function followWatches(
  deps: WatchFeedDeps,
  scope: WatchScope,
  index: WatchIndex,
  mayMark: () => boolean,
): Promise<number> {
  let marked = 0
  for (;;) {
    const rows = await deps.wallets.unmarkedWatches(scope.mode, scope.family, scope.network, MARK_BATCH)
    const matchKeys = rows.map((row) => row.matchKey)
    // A network that is new marks cold addresses as well: what is known of them needs no memory.
    for (const matchKey of matchKeys) if (index.cold?.mayHold(matchKey) !== true) index.add(matchKey)
    if (rows.length === 0 || !mayMark()) break
    await deps.wallets.markWatched(scope.mode, scope.family, scope.network, matchKeys)
    marked += rows.length
    if (rows.length < MARK_BATCH) break
  }
  if (marked > 0) report(deps, scope, index)
  return marked
}

function report(deps: WatchFeedDeps, { mode, network }: WatchScope, index: WatchIndex): void {
  deps.metrics.gauge('scanner_watches', index.size, { mode, network })
  deps.metrics.gauge('scanner_cold_watches', index.cold?.size ?? 0, { mode, network })
}
