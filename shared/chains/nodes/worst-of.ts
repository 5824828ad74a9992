import { BlockUnreadable, NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'

/** The failure to report among those of several nodes: a silent node may be the right one, so another chain comes last. */
export function worstOf(failures: readonly unknown[]): unknown {
  // A failure that names a block says more than one of a node that was not called, or that went away over it.
  const named = failures.findLast((failure) => failure instanceof BlockUnreadable && !failure.isAway)
  if (named !== undefined) return named
  const silent = failures.filter((failure) => !(failure instanceof NodeMismatch))
  return silent.at(-1) ?? failures.at(-1) ?? new NodeUnreliable('every node asked for a pause')
}
