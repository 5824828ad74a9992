import type { RawTransfer, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { inBlock } from '../../nodes/in-block.ts'
import { createPartReader } from '../../nodes/read-parts.ts'
import type { BlockParts } from './block-parts.ts'
import type { CoreNode } from './core-rpc.ts'
import { hashText } from './double-sha256.ts'
import { type BlockQuestion, minedTransfers, spendersAmong } from './extract.ts'
import { hashAt } from './hash-at.ts'
import { isListOf, parseHeader } from './parse-block.ts'
import { type ParsedTransaction, parseTransaction } from './parse-transaction.ts'

/** Transactions read at the same time: Core has four threads for calls by default. */
const CONCURRENCY = 4
/** Bytes of two hashes. Data of this length may be read as a transaction and as a node of the Merkle tree (CVE-2017-12842). */
const PAIR_BYTES = 64
/** Serialised: the consensus bounds those of one block at 4 MB. */
const readTransactions = createPartReader<Buffer>(CONCURRENCY)

/** The part of a node that is used here. */
export type LoneNode = BlockParts & Pick<CoreNode, 'hashAt'>

/**
 * Reads one block that cannot be read whole: its header, the ids of its transactions, and each of these. The block's hash
 * verifies the header, the header's Merkle root the list, and each id the bytes of its transaction, so that nothing is
 * omitted or invented. Keeps only the requested transfers and spenders. Throws `BlockUnreadable` unless
 * every transaction was read and checked.
 */
export async function readAlone(node: LoneNode, height: number, question: BlockQuestion): Promise<ScannedBlock> {
  const hash = await inBlock({ height, hash: null }, 'getblockhash', () => hashAt(node, height))
  const at = { height, hash }
  const ref = await inBlock(at, 'getblockheader', async () => {
    const header = await node.headerBytes(hash)
    return { ...parseHeader(header, at), header }
  })
  const { header, ...block } = ref
  const ids = await inBlock(at, 'getblock', () => readList(node, at, header))
  return { ...block, ...(await inBlock(at, 'getrawtransaction', () => readEach(node, hash, ids, question))) }
}

async function readList(
  node: LoneNode,
  { height, hash }: { readonly height: number; readonly hash: string },
  header: Buffer,
): Promise<readonly string[]> {
  const ids = await node.blockIds(hash)
  const isProven = isListOf(
    header,
    ids.map((id) => Buffer.from(id, 'hex').reverse()),
  )
  if (!isProven) throw new NodeUnreliable(`the node's list of transactions is not that of block ${height}`)
  return ids
}

async function readEach(
  node: LoneNode,
  hash: string,
  ids: readonly string[],
  { scope, watches, outpoints }: BlockQuestion,
): Promise<Required<Pick<ScannedBlock, 'transfers' | 'spent'>>> {
  const read = await readTransactions(node, { hash, ids }, async (id) => {
    const bytes = await node.minedTransaction(id, hash)
    checked(bytes, id)
    return bytes
  })
  const transfers: (readonly RawTransfer[])[] = []
  const spent = new Map<string, string>()
  for (const [position, bytes] of read.entries()) {
    const transaction = checked(bytes, ids[position])
    transfers.push(minedTransfers(scope, transaction, { position, last: ids.length - 1 }, watches))
    for (const [outpoint, spender] of spendersAmong([transaction], outpoints)) spent.set(outpoint, spender)
  }
  return { transfers: transfers.flat(), spent }
}

/** The transaction with this id. Throws `NodeUnreliable` when the bytes are another one, or may not be a transaction at all. */
function checked(bytes: Buffer, id: string | undefined): ParsedTransaction {
  const transaction = parseTransaction(bytes)
  if (transaction === null || hashText(transaction.hash) !== id) {
    throw new NodeUnreliable(`the node gave another transaction than ${id}`)
  }
  if (transaction.hashedBytes === PAIR_BYTES) {
    throw new NodeUnreliable(`transaction ${id} of ${PAIR_BYTES} bytes may represent two others`)
  }
  return transaction
}
