import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { doubleSha256 } from './double-sha256.ts'

/**
 * Root of the Merkle tree over transaction hashes, all in the byte order of the wire. Throws `NodeUnreliable` when two
 * neighbours are equal: a list with repetitions can have the same root as the honest one (CVE-2012-2459).
 */
export function merkleRoot(hashes: readonly Buffer[]): Buffer {
  let level = hashes
  while (level.length > 1) level = parents(level)
  const [root] = level
  if (root === undefined) throw new NodeUnreliable('the node gave a block without transactions')
  return root
}

function parents(level: readonly Buffer[]): readonly Buffer[] {
  const above: Buffer[] = []
  for (let index = 0; index < level.length; index += 2) {
    const left = level[index] as Buffer
    const right = level[index + 1]
    if (right?.equals(left) === true) throw new NodeUnreliable('the node gave a block that repeats a transaction')
    above.push(doubleSha256(Buffer.concat([left, right ?? left])))
  }
  return above
}
