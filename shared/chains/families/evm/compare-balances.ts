import type { AssetId } from '#shared/domain/enumerations.ts'
import type { RawTransfer, UnexplainedMove } from '#shared/ports/scanned-blocks.ts'
import type { WatchIndex } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { checksumAddress } from './address.ts'
import type { BalanceReader } from './balances.ts'
import type { CoinMove } from './extract.ts'
import { spendingOf } from './receipts.ts'
import type { Block } from './wire.ts'

/** Accounts whose balances are read in one request. */
const CHUNK = 500
/** Concurrent requests. */
const CONCURRENCY = 4
/** Hex digits of an account. */
const KEY_DIGITS = 40

/** Known transfers of a block with unreadable transactions. */
export interface KnownMoves {
  /** Direct transfers of transactions. */
  readonly sent: readonly RawTransfer[]
  /** Internal transfers of the transactions that could be traced. */
  readonly inside: readonly CoinMove[]
}

/**
 * Watched accounts whose balance changed in one block by a different amount than its known transfers
 * explain. All watched accounts are read, a chunk at a time. Throws `RpcFailure` of kind `pruned` when the node has dropped one
 * of the two states.
 */
export async function findUnexplained(
  { node, reader, asset }: { readonly node: RpcNode; readonly reader: BalanceReader; readonly asset: AssetId },
  block: Block,
  watches: WatchIndex,
  known: KnownMoves,
): Promise<readonly UnexplainedMove[]> {
  const changed: Change[] = []
  const chunks = chunksOf(watches.keys())
  const work = async (): Promise<void> => {
    for await (const matchKeys of chunks) changed.push(...(await changesIn(node, reader, block, matchKeys)))
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  const spending = await spendingOf(node, block, new Set(changed.map(({ matchKey }) => matchKey)))
  return changed.flatMap(({ matchKey, beforeBase, afterBase }) => {
    const { spentBase, feesBase } = spending.get(matchKey) ?? { spentBase: 0n, feesBase: 0n }
    const sent = known.sent.filter((transfer) => transfer.matchKey === matchKey)
    const knownBase = sent.reduce((sum, { amountBase }) => sum + amountBase, 0n) - spentBase
    const rest = afterBase - beforeBase - knownBase - innerNet(matchKey, known.inside)
    // A remainder within the account's own fees is a miscounted fee: rollups charge some that receipts do not contain.
    const isExplained = rest === 0n || (rest > 0n && rest <= feesBase)
    if (isExplained) return []
    return { matchKey, address: checksumAddress(matchKey), asset, beforeBase, afterBase, knownBase, feesBase }
  })
}

interface Change {
  readonly matchKey: string
  readonly beforeBase: bigint
  readonly afterBase: bigint
}

async function changesIn(
  node: RpcNode,
  reader: BalanceReader,
  block: Block,
  matchKeys: readonly string[],
): Promise<readonly Change[]> {
  const before = await reader.read(node, matchKeys, { hash: block.parentHash })
  const after = before === null ? null : await reader.read(node, matchKeys, { hash: block.hash })
  if (before === null || after === null) {
    const details = { method: 'eth_getBalance' }
    throw new RpcFailure('pruned', `${node.host} has dropped the balances of block ${block.number}`, details)
  }
  return matchKeys.flatMap((matchKey) => {
    const [beforeBase, afterBase] = [before.get(matchKey) ?? 0n, after.get(matchKey) ?? 0n]
    return beforeBase === afterBase ? [] : { matchKey, beforeBase, afterBase }
  })
}

function innerNet(matchKey: string, moves: readonly CoinMove[]): bigint {
  return moves.reduce((sum, { from, to, value }) => {
    if (from === to) return sum
    return sum + (to === matchKey ? value : 0n) - (from === matchKey ? value : 0n)
  }, 0n)
}

/** Keys in chunks that several readers consume in turn, so that not all are held at once. */
async function* chunksOf(
  keys: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<readonly string[], void, undefined> {
  let chunk: string[] = []
  for await (const key of keys) {
    if (key.length !== KEY_DIGITS) continue
    chunk.push(key)
    if (chunk.length < CHUNK) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}
