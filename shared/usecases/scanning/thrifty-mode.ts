import type { ChainCursor, LookPlace, Looks } from '#shared/ports/cursors.ts'
import type { BlockRef } from '#shared/ports/scanned-blocks.ts'
import { NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import { isTooDeep, locateFork } from './find-fork.ts'
import { moveCursor, type ScanSession } from './scan-session.ts'
import { windowUpTo } from './scan-window.ts'

/**
 * Makes the cursor one of the mode that the settings ask for, in one compare-and-set. To thrifty: every block up to the cursor was read for
 * every address, so both looks begin there. To full: the cursor goes back to the last look at all addresses, and everything above is read
 * block by block; keys make a second reading harmless. Throws `NodeUnreliable` while the node does not have that block, and
 * `NodeMismatch` when the family cannot be scanned thriftily.
 */
export async function adoptMode(session: ScanSession): Promise<void> {
  const { cursor, source } = session
  const wasThrifty = cursor.source === 'thrifty'
  if (source.thrifty !== undefined && source.client.accounts === undefined) {
    throw new NodeMismatch('"source":"thrifty" needs balances, which the client of this network cannot read')
  }
  if (source.thrifty !== undefined && !wasThrifty) await becomeThrifty(session)
  if (source.thrifty === undefined && wasThrifty) await becomeFull(session)
}

async function becomeThrifty(session: ScanSession): Promise<void> {
  const { cursor, deps, source } = session
  const place = placeOf(cursor, deps.clock.now())
  await moveCursor(session, { source: 'thrifty', looks: { ended: place, all: place } })
  deps.logger.warn({ mode: source.mode, network: source.network, height: cursor.height }, 'scanning becomes thrifty')
}

async function becomeFull(session: ScanSession): Promise<void> {
  const { cursor, deps, source } = session
  const { mode, network } = source
  const { looks } = cursor
  const from = looks == null || looks.all.height >= cursor.height ? placeOf(cursor, cursor.time) : looks.all
  const block = await newestCommon(session, from)
  if (block === null) {
    throw new NodeUnreliable(`the node does not have block ${from.height}, from which every block must be read again`)
  }
  await moveCursor(session, {
    source: 'full',
    looks: null,
    height: block.height,
    hash: block.hash,
    time: block.time,
    window: windowUpTo(cursor.window, block),
    status: cursor.status === 'halted' ? 'halted' : 'catchup',
    ...(cursor.atHeadAt !== undefined && { atHeadAt: Math.min(cursor.atHeadAt, block.time) }),
    recheckThrough: Math.max(cursor.recheckThrough ?? -1, cursor.height),
    advancedAt: deps.clock.now(),
  })
  deps.logger.warn(
    { mode, network, from: block.height, through: cursor.height },
    'every block is read again: thrifty scanning ended',
  )
}

/**
 * The block of a look, or where a reorganisation that nobody has read yet replaced it, the newest scanned block below it that the node still
 * has; null when that is deeper than any reorganisation may be.
 */
async function newestCommon(session: ScanSession, look: LookPlace): Promise<BlockRef | null> {
  const { cursor, source } = session
  const window = windowUpTo(cursor.window, look)
  const found = await locateFork(session, { height: look.height, window, headHeight: look.height })
  const { finalizedHeight } = cursor
  const bounds = { height: look.height, finalizedHeight, finalityDepth: source.finalityDepth }
  return isTooDeep(found, bounds) ? null : found.block
}

/**
 * The looks of a cursor that goes back to a block: none of them may be above it, or on another branch. What they had seen above it is looked at
 * again. Part of the write that moves the cursor; empty in full scanning.
 */
export function looksUpTo(
  { looks }: Pick<ChainCursor, 'looks'>,
  block: Pick<LookPlace, 'height' | 'hash' | 'time'>,
): { readonly looks?: Looks } {
  if (looks == null) return {}
  const cut = (look: LookPlace) => (look.height <= block.height ? look : placeOf(block, look.at))
  return { looks: { ended: cut(looks.ended), all: cut(looks.all) } }
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
