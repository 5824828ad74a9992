import { BlockUnreadable, NodeUnreliable } from '#shared/ports/scanning.ts'
import { RpcFailure } from './rpc-failure.ts'

/** A block while it is being read. */
export interface BlockInHand {
  readonly height: number
  /** Null until the node has returned it. */
  readonly hash: string | null
}

/**
 * Runs work that needs one block. Failures of the node are thrown as `BlockUnreadable`, with the failure as their cause:
 * attributed to the call that failed, or to `method` where the response contradicts itself.
 */
export async function inBlock<T>(block: BlockInHand, method: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw namedBlock(block, method, error)
  }
}

/** The same failure with the block in it. Passes on errors that are not the node's fault, or name their block already. */
export function namedBlock({ height, hash }: BlockInHand, method: string, error: unknown): unknown {
  if (!(error instanceof NodeUnreliable) || error instanceof BlockUnreadable) return error
  const failed = error instanceof RpcFailure ? error.method : (error.call?.method ?? null)
  return new BlockUnreadable({ height, hash, method: failed ?? method, reason: error.message }, error)
}

/** Whether a repetition would fail again: too much, refused, or state that was dropped. */
export function isLasting(error: unknown): boolean {
  const cause = error instanceof BlockUnreadable ? error.cause : error
  return cause instanceof RpcFailure && (cause.kind === 'split' || cause.kind === 'refused' || cause.kind === 'pruned')
}
