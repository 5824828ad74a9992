import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { checkLinks } from '../../nodes/check-links.ts'
import { inBlock } from '../../nodes/in-block.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import type { TronNode } from './api.ts'
import { absence } from './block-parts.ts'
import { checkHeader, type SuccessfulTransaction, successfulTransactions } from './check-block.ts'
import { refOf } from './head.ts'
import { type Block, blocksSchema, headerSchema, infosSchema, maybeBlockSchema } from './wire.ts'

/** Blocks in one response; each may be half a megabyte. Nodes return up to 100 (java-tron, `BLOCK_LIMIT_NUM`). */
const BLOCKS_PER_CALL = 5
const INFOS = 'wallet/gettransactioninfobyblocknum'

/** A block whose transactions and infos agree. */
export interface ReadBlock {
  readonly header: Pick<Block, 'blockID' | 'block_header'>
  readonly successful: readonly SuccessfulTransaction[]
}

/**
 * Blocks `from`…`to` of one node, linked: one request for each with its infos, and one for every five blocks. `known` is a
 * block that this node returned already. Throws `NodeUnreliable` rather than omitting anything.
 */
export async function readBlocks(
  node: TronNode,
  from: number,
  to: number,
  known: Block | null,
): Promise<readonly ReadBlock[]> {
  const blocks: ReadBlock[] = []
  // Block 0 distributes the first coins in transactions of a special form, and has no infos.
  if (from === 0) {
    const header = await node.call('wallet/getblockbynum', { num: 0 }, headerSchema)
    checkHeader(header, 0)
    blocks.push({ header, successful: [] })
  }
  for (let start = Math.max(1, from); start <= to; start += BLOCKS_PER_CALL) {
    const end = Math.min(to, start + BLOCKS_PER_CALL - 1)
    const read = () => bareBlocks(node, start, end, known)
    const bare =
      start === end ? await inBlock({ height: start, hash: null }, 'wallet/getblockbynum', read) : await read()
    blocks.push(
      ...(await mapConcurrently(bare, BLOCKS_PER_CALL, (block) =>
        inBlock({ height: block.block_header.raw_data.number, hash: block.blockID }, INFOS, () =>
          withInfos(node, block),
        ),
      )),
    )
  }
  checkLinks(blocks.map(({ header }) => refOf(header)))
  return blocks
}

/** Blocks first: infos of a block that the node has returned must be there. */
async function bareBlocks(node: TronNode, from: number, to: number, known: Block | null): Promise<readonly Block[]> {
  const blocks = await requestBlocks(node, from, to, known)
  if (blocks.length !== to - from + 1) throw new NodeUnreliable(`the node lacks one of the blocks ${from} to ${to}`)
  for (const [index, block] of blocks.entries()) checkHeader(block, from + index)
  return blocks
}

async function requestBlocks(node: TronNode, from: number, to: number, known: Block | null): Promise<readonly Block[]> {
  if (from !== to) return node.call('wallet/getblockbylimitnext', { startNum: from, endNum: to + 1 }, blocksSchema)
  if (known?.block_header.raw_data.number === from) return [known]
  const block = await node.call('wallet/getblockbynum', { num: from }, maybeBlockSchema)
  if (block === null) throw await absence(node, from)
  return [block]
}

async function withInfos(node: TronNode, block: Block): Promise<ReadBlock> {
  const { number } = block.block_header.raw_data
  const infos = await node.call(INFOS, { num: number }, infosSchema)
  return { header: block, successful: successfulTransactions(block, infos) }
}
