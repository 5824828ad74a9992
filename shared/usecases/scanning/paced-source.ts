import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import type { ScanSource } from './scan-session.ts'
import { usualPace } from './thrifty-pace.ts'

const POLL_MIN_MS = 250
const POLL_MAX_MS = 2_000
/** Polls per block time while nothing happens. */
const POLLS_PER_BLOCK = 6

/** Pause between two polls of a head whose blocks come at this pace, milliseconds. */
export function pollEveryMs(blockTimeMs: number): number {
  return Math.min(POLL_MAX_MS, Math.max(POLL_MIN_MS, blockTimeMs / POLLS_PER_BLOCK))
}

/**
 * A source at the pace that its scan has measured: depth of reorganisations, polls and thrifty steps follow the chain, not the network's row. The
 * source itself until a pace is measured. Pure.
 */
export function pacedSource(
  catalog: Pick<Catalog, 'figures'>,
  source: ScanSource,
  { measured }: Pick<ChainCursor, 'measured'>,
): ScanSource {
  if (measured === undefined) return source
  const { isMeasured, blockTimeMs, finalityDepth } = catalog.figures(source.network, measured)
  if (!isMeasured) return source
  const { thrifty, development, pollMs } = source
  return {
    ...source,
    finalityDepth,
    pollMs: development ? pollMs : pollEveryMs(blockTimeMs),
    ...(thrifty !== undefined && {
      thrifty: usualPace(blockTimeMs, thrifty.isNearlySpent),
    }),
  }
}
