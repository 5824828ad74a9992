import type { Ms } from '#shared/domain/invoice/model.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { addressClaim } from './address-standing.ts'

/** An index that no invoice claimed this long after it was offered is offered again. */
const UNCLAIMED_MS = 3_600_000
/** How often the offered indexes of a key are checked. */
const EVERY_MS = 600_000
/** How many indexes a newly started process checks. */
const LOOK_BACK = 5_000
const PAGE = 500

/** Dependencies of finding unclaimed indexes. */
export type ReclaimDeps = Runtime & Uses<'wallets' | 'invoices'>

interface Watch {
  /** Next index to be offered at a given time: everything below it was offered by then. */
  marks: { readonly at: Ms; readonly nextIndex: number }[]
  /** Everything below is claimed, as far as this process has read. */
  from: number
}

/**
 * Makes a reclaimer that keeps in memory how far each key had been offered. A double offer is harmless, because
 * the unique claim decides; so nothing here needs to be exact.
 */
export function createIndexReclaimer(deps: ReclaimDeps) {
  const watches = new Map<string, Watch>()

  const look = async (material: KeyMaterial, shouldStop: () => boolean): Promise<number> => {
    const now = deps.clock.now()
    const watch = watches.get(material.id) ?? {
      marks: [],
      from: Math.max(0, material.nextIndex - LOOK_BACK),
    }
    watch.from = Math.max(watch.from, material.reclaimFrom ?? 0)
    watches.set(material.id, watch)
    const last = watch.marks.at(-1)
    if (last !== undefined && now - last.at < EVERY_MS) return 0
    watch.marks.push({ at: now, nextIndex: material.nextIndex })
    const old = watch.marks.filter((mark) => now - mark.at >= UNCLAIMED_MS)
    const ripe = old.at(-1)
    if (ripe === undefined) return 0
    watch.marks = watch.marks.slice(old.length - 1)
    return giveBack(deps, material, watch, { until: ripe.nextIndex, shouldStop })
  }

  return {
    /**
     * Checks the keys that are due; cheap to call often. Ends early when `shouldStop` returns true, and continues there the next time. Returns how
     * many indexes were reclaimed.
     */
    async run(shouldStop: () => boolean = () => false): Promise<number> {
      let returned = 0
      for (const material of await deps.wallets.listMaterials()) {
        if (shouldStop()) break
        if (material.kind === 'xpub') returned += await look(material, shouldStop)
      }
      if (returned > 0) deps.metrics.count('address_indexes_returned_total', {}, returned)
      return returned
    },
  }
}

async function giveBack(
  deps: ReclaimDeps,
  material: KeyMaterial,
  watch: Watch,
  { until, shouldStop }: { readonly until: number; readonly shouldStop: () => boolean },
): Promise<number> {
  const waiting = new Set(material.returned)
  let returned = 0
  let lowestUnclaimed = until
  for (let page = watch.from; page < until; page += PAGE) {
    if (shouldStop()) {
      lowestUnclaimed = Math.min(lowestUnclaimed, page)
      break
    }
    const indexes = Array.from({ length: Math.min(PAGE, until - page) }, (_, offset) => page + offset)
    const addresses = await deps.wallets.addressesAt(material.id, indexes)
    const claimOf = (matchKey: string) => addressClaim(material.mode, material.family, matchKey)
    const taken = await deps.invoices.claimsTaken(addresses.map((address) => claimOf(address.matchKey)))
    const unclaimed = addresses.filter((address) => !taken.has(claimOf(address.matchKey))).map(({ index }) => index)
    for (const index of unclaimed) lowestUnclaimed = Math.min(lowestUnclaimed, index)
    const fresh = unclaimed.filter((index) => !waiting.has(index))
    if (fresh.length > 0) await deps.wallets.returnIndexes(material.id, fresh)
    returned += fresh.length
  }
  watch.from = lowestUnclaimed
  return returned
}
