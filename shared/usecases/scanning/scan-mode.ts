import type { ChainCursor, LookPlace, Looks } from '#shared/ports/cursors.ts'
import { NodeMismatch } from '#shared/ports/scanning.ts'
import { doubting, moveCursor, type ScanSession } from './scan-session.ts'

/**
 * Notes at the cursor how blocks are read from here on, and where looks at balances begin when they never did: every block up to the cursor
 * was read for every address. Both ways of scanning look at addresses without an open invoice, so a change of the setting moves nothing. Deadlines of
 * invoices that figures were read for wait for their proof.
 * Throws `NodeMismatch` when the family cannot be scanned thriftily.
 */
export async function adoptMode(session: ScanSession): Promise<void> {
  const { cursor, source, deps } = session
  if (source.thrifty !== undefined && source.client.accounts === undefined) {
    throw new NodeMismatch('"source":"thrifty" needs balances, which the client of this network cannot read')
  }
  const mode = source.thrifty === undefined ? 'full' : 'thrifty'
  const place = placeOf(cursor, deps.clock.now())
  const isNew = cursor.looks == null && source.client.accounts !== undefined
  const looks = { ended: place, all: place, week: place, month: place }
  if (cursor.source === mode && !isNew) return
  const isFull = mode === 'full'
  const fullAbove = !isFull ? null : cursor.source === 'full' ? (cursor.fullAbove ?? cursor.height) : cursor.height
  const doubt = isFull && cursor.source === 'thrifty' && doubting(cursor, cursor.time)
  await moveCursor(session, { source: mode, fullAbove, ...(isNew && { looks }), ...doubt })
  deps.logger.warn({ mode: source.mode, network: source.network, height: cursor.height }, `scanning is ${mode}`)
}

/**
 * The looks of a cursor that goes back to a block: none of them may be above it, or on another branch. What they had seen above it is looked at
 * again. Part of the write that moves the cursor; empty where there are no looks.
 */
export function looksUpTo(
  { looks }: Pick<ChainCursor, 'looks'>,
  block: Pick<LookPlace, 'height' | 'hash' | 'time'>,
): { readonly looks?: Looks } {
  if (looks == null) return {}
  const cut = (look: LookPlace) => (look.height <= block.height ? look : { ...look, ...placeOf(block, look.at) })
  const { ended, all, week, month } = looks
  return { looks: { ended: cut(ended), all: cut(all), week: cut(week), month: cut(month) } }
}

/** The position of a cursor as that of a look. */
export const placeOf = (
  { height, hash, time }: Pick<LookPlace, 'height' | 'hash' | 'time'>,
  at: number,
): LookPlace => ({
  height,
  hash,
  time,
  at,
})
