import type { BlockRef } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import type { OutputChainRules } from '../../definitions/chain.ts'
import { type ByteReader, createByteReader } from './byte-reader.ts'
import { doubleSha256, hashText } from './double-sha256.ts'
import { type ParsedTransaction, readTransaction } from './parse-transaction.ts'

const HEADER_BYTES = 80
/** Bit of a block's version for merged mining: its proof of work is another chain's (Dogecoin Core, `pureheader.h`). */
const AUX_POW = 0x100
/** Minimum bytes of a transaction: version, counts, an input, an output, lock time. */
const TRANSACTION_MIN = 60

/** A block whose hash and whose list of transactions were computed from its bytes. */
export interface ParsedBlock extends BlockRef {
  readonly transactions: readonly ParsedTransaction[]
}

/**
 * Parses a serialised block and verifies that it is the requested one: its header hashes to `hash`, its transactions to
 * the header's Merkle root. Whatever a miner puts into the skipped parts (merged-mining proofs, Litecoin's
 * extension block), no output can be invented. Throws `NodeUnreliable` otherwise.
 */
export function parseBlock(
  bytes: Buffer,
  expected: { readonly height: number; readonly hash: string },
  rules: Pick<OutputChainRules, 'auxPow' | 'mweb'>,
): ParsedBlock {
  const header = parseHeader(bytes, expected)
  const reader = createByteReader(bytes)
  reader.skip(HEADER_BYTES)
  if (rules.auxPow && (bytes.readUInt32LE(0) & AUX_POW) !== 0) skipAuxPow(reader)
  const transactions = Array.from({ length: reader.count(TRANSACTION_MIN) }, () => readTransaction(reader))
  // Litecoin's extension block follows the transactions.
  if (reader.remaining > 0 && !rules.mweb) throw unlike(expected)
  if (
    !isListOf(
      bytes,
      transactions.map((transaction) => transaction.hash),
    )
  )
    throw unlike(expected)
  return { ...header, transactions }
}

/** Whether these hashes of transactions, in the byte order of the wire, are the list that a serialised header commits to. */
export function isListOf(header: Buffer, hashes: readonly Buffer[]): boolean {
  return merkleRoot(hashes).equals(header.subarray(36, 68))
}

/** Fields of the first 80 bytes of a serialised block. Throws `NodeUnreliable` when they do not hash to `hash`. */
export function parseHeader(bytes: Buffer, expected: { readonly height: number; readonly hash: string }): BlockRef {
  if (bytes.length < HEADER_BYTES) throw unlike(expected)
  const header = bytes.subarray(0, HEADER_BYTES)
  if (hashText(doubleSha256(header)) !== expected.hash) throw unlike(expected)
  return {
    height: expected.height,
    hash: expected.hash,
    parentHash: hashText(header.subarray(4, 36)),
    time: header.readUInt32LE(68) * 1_000,
  }
}

/** A coinbase transaction of the parent chain, its block's hash, two Merkle branches with their indexes, and the parent's header. */
function skipAuxPow(reader: ByteReader): void {
  readTransaction(reader)
  reader.skip(32)
  for (let branch = 0; branch < 2; branch += 1) {
    reader.skip(reader.count(32) * 32)
    reader.skip(4)
  }
  reader.skip(HEADER_BYTES)
}

function unlike({ height }: { readonly height: number }): NodeUnreliable {
  return new NodeUnreliable(`the node's block ${height} is not the one its hash names`)
}

/**
 * Root of the Merkle tree over transaction hashes, all in the byte order of the wire. Throws `NodeUnreliable` when two
 * neighbours are equal: a list with repetitions can have the same root as the honest one (CVE-2012-2459).
 */
function merkleRoot(hashes: readonly Buffer[]): Buffer {
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
