import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { inBlock } from '../../nodes/in-block.ts'
import { createPartReader } from '../../nodes/read-parts.ts'
import { type ListedBlock, listBlock, type PartNode } from './block-parts.ts'
import type { SuccessfulTransaction } from './check-block.ts'
import { type ExtractContext, type Move, movesOf, transfersAmong } from './extract.ts'
import { refOf } from './head.ts'

/** Transactions read at the same time. */
const CONCURRENCY = 4
const readMoves = createPartReader<readonly Move[]>(CONCURRENCY)

/** A block that was read in parts. */
export interface ReadAlone {
  readonly block: ScannedBlock
  /** A successful transaction in which the node recorded calls; null when it recorded none in this block. */
  readonly recorded: SuccessfulTransaction | null
}

/**
 * Reads one block that cannot be read as usual, transaction by transaction; a further attempt goes on where one failed. Throws `BlockUnreadable` unless every listed transaction was read and agrees with the block.
 */
export async function readAlone(node: PartNode, height: number, context: ExtractContext): Promise<ReadAlone> {
  const listed = await inBlock({ height, hash: null }, 'wallet/getblockbynum', () => listBlock(node, height))
  const ref = refOf(listed.header)
  const { transfers, recorded } = await inBlock(ref, 'wallet/gettransactioninfobyid', () =>
    readEach(node, ref.hash, listed, context),
  )
  return { block: { ...ref, transfers }, recorded }
}

/** Of each transaction what it moved, not only to us: until all of them are read, more addresses may be watched. */
async function readEach(node: PartNode, hash: string, { ids, read }: ListedBlock, context: ExtractContext) {
  const found: { recorded: SuccessfulTransaction | null } = { recorded: null }
  const moves = await readMoves(node, { hash, ids }, async (id) => {
    const transaction = await read(id)
    if (transaction === null) return []
    if (transaction.info.internal_transactions.length > 0) found.recorded = transaction
    return movesOf(transaction, context)
  })
  const transfers = moves.flatMap((made, position) => transfersAmong(ids[position] ?? '', made, context))
  return { transfers, recorded: found.recorded }
}
