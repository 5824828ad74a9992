import { BlockUnreadable, NodeUnreliable } from '#shared/ports/scanning.ts'
import { RpcFailure } from './rpc-failure.ts'

/** A block as far as it is known while it is read. */
export interface BlockInHand {
  readonly height: number
  /** Null while the node has not named it. */
  readonly hash: string | null
}

/**
 * Does work that needs one block. What the node fails in is thrown as `BlockUnreadable`, with the failure as its cause:
 * by the call that failed, or by `method` where the answer contradicts itself.
 */
export async function inBlock<T>(block: BlockInHand, method: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw namedBlock(block, method, error)
  }
}

/** The same failure with the block in it. Passes on what is no fault of a node, or names its block already. */
export function namedBlock({ height, hash }: BlockInHand, method: string, error: unknown): unknown {
  if (!(error instanceof NodeUnreliable) || error instanceof BlockUnreadable) return error
  const failed = error instanceof RpcFailure ? error.method : null
  return new BlockUnreadable({ height, hash, method: failed ?? method, reason: error.message }, error)
}

/** Whether asking the same again would fail again: too much, refused, or state that was dropped. */
export function isLasting(error: unknown): boolean {
  const cause = error instanceof BlockUnreadable ? error.cause : error
  return cause instanceof RpcFailure && (cause.kind === 'split' || cause.kind === 'refused' || cause.kind === 'pruned')
}
