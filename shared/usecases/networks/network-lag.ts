import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import type { ChainCursor, CursorRepository } from '#shared/ports/scanning.ts'
import { createSingleFlight } from '#shared/usecases/requests/single-flight.ts'

/** A network lags when its cursor is further behind than ten blocks and a minute. */
const LAG_BLOCKS = 10
const LAG_MARGIN_MS = 60_000
/** A scanner that stopped itself gets this long to find its chain again. */
const HALTED_PATIENCE_MS = 60_000
/** A cursor is read at most this often per network. */
const CACHE_MS = 2_000

/** What judging the lag of a network needs. */
export interface NetworkLagDeps {
  readonly cursors: Pick<CursorRepository, 'find'>
  readonly catalog: Pick<Catalog, 'blockTimeMs'>
  readonly clock: Clock
}

/** Says whether a network's scanner is too far behind for new invoices. */
export interface NetworkLag {
  /**
   * True from the moment the stored cursor is more than 10 block times and 60 s behind, until it stands at its head
   * again and is less than half of that behind: a node that comes and goes does not make an asset flicker. A network
   * that was never scanned does not lag; it has no watched address either, so the address source answers for it.
   */
  isLagging(mode: Mode, network: NetworkId): Promise<boolean>
}

/** Makes the judge of one process; which side of the two thresholds a network was on last is kept in memory only. */
export function createNetworkLag(deps: NetworkLagDeps): NetworkLag {
  const verdicts = new Map<string, { readonly at: Ms; readonly lagging: boolean }>()
  const flights = createSingleFlight<boolean>()

  return {
    async isLagging(mode, network) {
      const key = `${mode}:${network}`
      const known = verdicts.get(key)
      if (known !== undefined && deps.clock.now() - known.at < CACHE_MS) return known.lagging
      return flights(key, async () => {
        const cursor = await deps.cursors.find(mode, network)
        const now = deps.clock.now()
        const lagging =
          cursor !== null && judge(cursor, now, deps.catalog.blockTimeMs(network), known?.lagging ?? false)
        verdicts.set(key, { at: now, lagging })
        return lagging
      })
    },
  }
}

/** How far a network's scanner may be behind before new invoices are not offered it, milliseconds. */
export function lagMarkMs(blockTimeMs: number): number {
  return LAG_BLOCKS * blockTimeMs + LAG_MARGIN_MS
}

function judge(cursor: ChainCursor, now: Ms, blockTimeMs: number, wasLagging: boolean): boolean {
  if (cursor.status === 'halted') return wasLagging || now - cursor.headSeenAt > HALTED_PATIENCE_MS
  const limit = lagMarkMs(blockTimeMs)
  const atHead = cursor.height >= cursor.headHeight
  const behindMs = now - positionOf(cursor, atHead)
  return wasLagging ? !atHead || behindMs > limit / 2 : behindMs > limit
}

/**
 * The moment up to which everything on the chain is known. A live chain that brings no block is a node that is stuck, so
 * the last block's time counts; a test chain may mine only when something happens, so at its head the last look does.
 */
function positionOf({ mode, time, headSeenAt }: ChainCursor, atHead: boolean): Ms {
  return mode === 'test' && atHead ? headSeenAt : Math.min(time, headSeenAt)
}
