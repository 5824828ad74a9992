import type { AssetId, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { createSingleFlight } from '#shared/usecases/requests/single-flight.ts'
import type { Store, Uses } from '#shared/usecases/uses.ts'

/** A network lags when its cursor is behind by more than ten blocks and more than a minute. */
const LAG_BLOCKS = 10
const LAG_MARGIN_MS = 60_000
/** A thrifty scanner asks its node at least this often. */
export const RESTING_MS = 600_000
/** A halted scanner gets this long to find its chain again. */
const HALTED_PATIENCE_MS = 60_000
/** A cursor is read at most this often per network. */
const CACHE_MS = 2_000

/** Dependencies of checking the lag of a network. */
export type NetworkLagDeps = Uses<'catalog' | 'clock'> & { readonly cursors: Pick<Store['cursors'], 'find'> }

/** Checks whether a network's scanner is too far behind for new invoices. */
export type NetworkLag = ReturnType<typeof createNetworkLag>

/** What was found at a moment. */
interface Verdict {
  readonly at: Ms
  readonly lagging: boolean
  readonly missing: readonly AssetId[]
}

/** The lag check of one process; only memory holds which side of the two thresholds a network was on last. */
export function createNetworkLag(deps: NetworkLagDeps) {
  const verdicts = new Map<string, Verdict>()
  const flights = createSingleFlight<Verdict>()

  async function look(mode: Mode, network: NetworkId): Promise<Verdict> {
    const key = `${mode}:${network}`
    const known = verdicts.get(key)
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : deps.clock.now() - known.at
    if (known !== undefined && ageMs >= 0 && ageMs < CACHE_MS) return known
    return flights(key, async () => {
      const cursor = await deps.cursors.find(mode, network)
      const now = deps.clock.now()
      const lagging =
        cursor !== null && evaluate(cursor, now, deps.catalog.blockTimeMs(network, mode), known?.lagging ?? false)
      const verdict = { at: now, lagging, missing: cursor?.missingTokens ?? [] }
      verdicts.set(key, verdict)
      return verdict
    })
  }

  return {
    /**
     * True from the moment the stored cursor is more than 10 block times and 60 s behind, until it is at its head
     * again and less than half of that behind: an unsteady node does not make an asset flicker. A network
     * that was never scanned does not lag; it has no watched address either, so the address source decides.
     */
    isLagging: async (mode: Mode, network: NetworkId): Promise<boolean> => (await look(mode, network)).lagging,

    /** Whether the network's node lacked the contract of a token when its scanner looked last, at most 2 s ago. */
    isMissing: async (mode: Mode, network: NetworkId, asset: AssetId): Promise<boolean> =>
      (await look(mode, network)).missing.includes(asset),
  }
}

/** Milliseconds that a network's scanner may be behind before new invoices stop offering it. */
export function lagMarkMs(blockTimeMs: number): number {
  return LAG_BLOCKS * blockTimeMs + LAG_MARGIN_MS
}

function evaluate(cursor: ChainCursor, now: Ms, blockTimeMs: number, wasLagging: boolean): boolean {
  if (cursor.status === 'halted') return wasLagging || now - cursor.headSeenAt > HALTED_PATIENCE_MS
  const limit = lagMarkMs(blockTimeMs)
  const isReread = isRereading(cursor)
  if (cursor.source === 'thrifty' && !isReread) return isThriftyLagging(cursor, now, wasLagging ? limit / 2 : limit)
  const atHead = cursor.height >= cursor.headHeight
  const behindMs = now - positionOf(cursor, atHead)
  return wasLagging ? !atHead || behindMs > limit / 2 : behindMs > limit
}

/**
 * A thrifty network rests while nothing is expected: its cursor may be old. What counts is that its node answered lately, was not behind then, and
 * that no block has been failing for long.
 */
function isThriftyLagging({ mode, headSeenAt, headTime, trouble }: ChainCursor, now: Ms, limit: number): boolean {
  if (now - headSeenAt > RESTING_MS + limit) return true
  if (mode === 'live' && headTime !== undefined && headSeenAt - headTime > limit) return true
  return trouble != null && now - trouble.firstAt > limit
}

/**
 * The moment up to which all activity of the chain is known. A live chain without new blocks means a stuck node, so
 * the last block's time counts; a test chain may mine only when something happens, so at its head the last reading counts.
 */
function positionOf({ mode, time, headSeenAt }: ChainCursor, atHead: boolean): Ms {
  return mode === 'test' && atHead ? headSeenAt : Math.min(time, headSeenAt)
}

/** Whether the cursor was sent back, and blocks that follow it were read before: all of them are read again. Pure. */
export const isRereading = ({ height, recheckThrough }: Pick<ChainCursor, 'height' | 'recheckThrough'>): boolean =>
  height < (recheckThrough ?? -1)
