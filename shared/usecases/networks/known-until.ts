import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { lagMarkMs } from './network-lag.ts'

/** Input of the position. */
export type PositionedCursor = Pick<
  ChainCursor,
  | 'mode'
  | 'time'
  | 'hash'
  | 'height'
  | 'headHeight'
  | 'headSeenAt'
  | 'mempoolAt'
  | 'advancedAt'
  | 'atHeadAt'
  | 'released'
  | 'unproven'
  | 'skipped'
>

/**
 * The time of the cursor's block, and never later than when it was read: a block that carries a later time says nothing about the time until
 * then. Pure.
 */
export const scannedTime = ({ time, advancedAt }: Pick<ChainCursor, 'time' | 'advancedAt'>): Ms =>
  Math.min(time, advancedAt ?? time)

/**
 * The moment up to which all activity of a chain is known, Unix milliseconds. A payment that is not stored yet can
 * only be later. Where unconfirmed transactions are visible it is the last complete reading of the mempool: a payment
 * announced in time is on time, and blocks do not show what else waits. Elsewhere it is the time of the last block. Never grows while
 * the cursor is stuck, and ends before a deadline that still has to be proven, and where blocks were skipped until a person releases their deadlines. Releases of deadlines do not count here. Pure.
 */
export function knownUntil(cursor: PositionedCursor, blockTimeMs: number): Ms {
  const read = unskippedUntil(cursor, blockTimeMs)
  return cursor.unproven == null ? read : Math.min(read, cursor.unproven - 1)
}

/** What was read without a gap, proven or not. */
const unskippedUntil = (cursor: PositionedCursor, blockTimeMs: number): Ms =>
  Math.min(readUntil(cursor, blockTimeMs), cursor.skipped?.since ?? Number.POSITIVE_INFINITY)

/** The same by the blocks alone, whether or not deadlines in them are proven. Pure. */
export function readUntil(cursor: PositionedCursor, blockTimeMs: number): Ms {
  const { mode, headSeenAt, mempoolAt, atHeadAt, advancedAt = headSeenAt } = cursor
  const time = scannedTime(cursor)
  if (mempoolAt !== undefined) return mode === 'test' ? mempoolAt : liveMempool(cursor, mempoolAt, blockTimeMs)
  // A test chain may mine only when something happens: at its head the last reading counts.
  if (mode === 'test') return Math.max(Math.min(time, headSeenAt), atHeadAt ?? 0)
  // Of a block that was read before its own time only this is sure: unread ones behind it took their pace until the head was seen.
  const isFalse = cursor.time > advancedAt
  const unread = isFalse ? Math.max(0, cursor.headHeight - cursor.height) : 0
  return Math.min(time, headSeenAt - unread * blockTimeMs)
}

/**
 * Up to when an operator's release lets deadlines take effect; null where none is in force. While the cursor stands at its block, up to the moment
 * that it names; where deadlines wait for the same proof as then, as far as blocks were read, because the cursor goes on without it. Pure.
 */
export function releasedUntil(cursor: PositionedCursor, blockTimeMs: number): Ms | null {
  const { released, unproven, hash } = cursor
  if (released == null) return null
  if (released.hash === hash) return released.through
  if (unproven == null || released.unproven !== unproven) return null
  return Math.min(released.through, unskippedUntil(cursor, blockTimeMs))
}

/** The moment up to which deadlines take effect: `knownUntil`, or as far as an operator's release goes. Pure. */
export function deadlinesPassUntil(cursor: PositionedCursor, blockTimeMs: number): Ms {
  const known = knownUntil(cursor, blockTimeMs)
  return Math.max(known, releasedUntil(cursor, blockTimeMs) ?? known)
}

/**
 * A live node whose newest block is so old may have lost its peers or still read what it missed: its mempool then proves nothing. The time
 * is the block's own, and never later than when it was read.
 */
function liveMempool(cursor: PositionedCursor, mempoolAt: Ms, blockTimeMs: number): Ms {
  return Math.min(mempoolAt, scannedTime(cursor) + lagMarkMs(blockTimeMs))
}
