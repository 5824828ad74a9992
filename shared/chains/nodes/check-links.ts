import type { BlockRef } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'

/** Throws `NodeUnreliable` unless each of these consecutive blocks names the one before as its parent. */
export function checkLinks(blocks: readonly Pick<BlockRef, 'height' | 'hash' | 'parentHash'>[]): void {
  for (const [index, block] of blocks.entries()) {
    const parent = blocks[index - 1]
    if (parent !== undefined && block.parentHash !== parent.hash) {
      throw new NodeUnreliable(`the node's blocks ${parent.height} and ${block.height} are not linked`)
    }
  }
}
