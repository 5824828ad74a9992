import type { Ms } from '#shared/domain/invoice/model.ts'
import { lagMarkMs } from './network-lag.ts'
import type { ChainCursor } from './ports/scanning.ts'

/** What the position is computed from. */
export type PositionedCursor = Pick<
  ChainCursor,
  'mode' | 'time' | 'hash' | 'headSeenAt' | 'mempoolAt' | 'advancedAt' | 'atHeadAt' | 'released'
>

/**
 * The moment up to which everything that happened on a chain is known, Unix milliseconds. A payment that is not stored yet can
 * only be later. Never grows while the cursor is stuck. Releases of deadlines do not count here. Pure.
 */
export function knownUntil(cursor: PositionedCursor, blockTimeMs: number): Ms {
  // Blocks may carry times in the future (Bitcoin: two hours): known is only what was there at the last look.
  const scanned = Math.min(cursor.time, cursor.headSeenAt)
  return Math.max(scanned, cursor.mode === 'test' ? lookedAt(cursor) : liveMempool(cursor, blockTimeMs))
}

/**
 * The moment up to which deadlines pass: `knownUntil`, or what an operator released for this very block of the cursor. Pure.
 */
export function deadlinesPassUntil(cursor: PositionedCursor, blockTimeMs: number): Ms {
  const known = knownUntil(cursor, blockTimeMs)
  const { released } = cursor
  return released == null || released.hash !== cursor.hash ? known : Math.max(known, released.through)
}

/** A test chain may mine only when something happens: at its head the last look counts, and so does one at its mempool. */
const lookedAt = ({ mempoolAt = 0, atHeadAt = 0 }: PositionedCursor): Ms => Math.max(mempoolAt, atHeadAt)

/** A live node that shows no new block for so long may have lost its peers: its mempool then proves nothing either. */
function liveMempool({ mempoolAt = 0, advancedAt, time }: PositionedCursor, blockTimeMs: number): Ms {
  return Math.min(mempoolAt, Math.max(advancedAt ?? time, time) + lagMarkMs(blockTimeMs))
}
