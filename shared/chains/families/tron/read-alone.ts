import type { RawTransfer, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { inBlock } from '../../nodes/in-block.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { type ListedBlock, listBlock, type PartNode } from './block-parts.ts'
import type { SuccessfulTransaction } from './check-block.ts'
import { type ExtractContext, extractTransfers } from './extract.ts'
import { refOf } from './head.ts'

/** Transactions read at the same time. */
const CONCURRENCY = 4

/** A block that was read in parts. */
export interface ReadAlone {
  readonly block: ScannedBlock
  /** A successful transaction in which the node recorded calls; null when it recorded none in this block. */
  readonly recorded: SuccessfulTransaction | null
}

/**
 * Reads one block that cannot be read as usual, transaction by transaction. Keeps only the requested
 * transfers. Throws `BlockUnreadable` unless every listed transaction was read and agrees with the block.
 */
export async function readAlone(node: PartNode, height: number, context: ExtractContext): Promise<ReadAlone> {
  const listed = await inBlock({ height, hash: null }, 'wallet/getblockbynum', () => listBlock(node, height))
  const ref = refOf(listed.header)
  const { transfers, recorded } = await inBlock(ref, 'wallet/gettransactioninfobyid', () => readEach(listed, context))
  return { block: { ...ref, transfers }, recorded }
}

async function readEach({ ids, read }: ListedBlock, context: ExtractContext) {
  const transfers: (readonly RawTransfer[])[] = []
  const found: { recorded: SuccessfulTransaction | null } = { recorded: null }
  await mapConcurrently([...ids.entries()], CONCURRENCY, async ([position, id]) => {
    const transaction = await read(id)
    if (transaction === null) return
    transfers[position] = extractTransfers(transaction, context)
    if (transaction.info.internal_transactions.length > 0) found.recorded = transaction
  })
  return { transfers: transfers.flat(), recorded: found.recorded }
}
