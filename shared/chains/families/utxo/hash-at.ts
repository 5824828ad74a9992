import { NodeUnreliable } from '#shared/ports/scanning.ts'
import type { CoreNode } from './core-rpc.ts'

/** Hash of a node's block. Throws `NodeUnreliable` when the node has none at this height. */
export async function hashAt(node: Pick<CoreNode, 'hashAt'>, height: number): Promise<string> {
  const hash = await node.hashAt(height)
  if (hash === null) throw new NodeUnreliable(`the node has no block ${height}`)
  return hash
}
