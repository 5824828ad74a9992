import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import type { WatchIndex } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { type BalanceReader, createBalanceReader } from './balances.ts'
import { spendingOf } from './receipts.ts'
import type { Block } from './wire.ts'

/** Accounts whose balances are read in one request. */
const CHUNK = 500
/** Concurrent requests. */
const CONCURRENCY = 4
/** Hex digits of an account. */
const KEY_DIGITS = 40

/** Whose balances are compared, and with which direct transfers. */
interface UnparsedQuestion {
  readonly watches: WatchIndex
  readonly sent: readonly RawTransfer[]
  readonly numbersAreParents: boolean | undefined
}

/**
 * Watched accounts, as match keys, whose balance changed in one block by a different amount than these direct transfers explain. All
 * watched accounts are read, a chunk at a time. Throws `RpcFailure` of kind `pruned` when the node has dropped one of the two states.
 */
export async function findUnexplained(
  node: RpcNode,
  block: Block,
  { watches, sent, numbersAreParents }: UnparsedQuestion,
): Promise<readonly string[]> {
  const reader = createBalanceReader(numbersAreParents)
  const changed: Change[] = []
  const chunks = chunksOf(watches.keys())
  const work = async (): Promise<void> => {
    for await (const matchKeys of chunks) changed.push(...(await changesIn(node, reader, block, matchKeys)))
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  const spending = await spendingOf(node, block, new Set(changed.map(({ matchKey }) => matchKey)))
  return changed.flatMap(({ matchKey, increaseBase }) => {
    const { spentBase, feesBase } = spending.get(matchKey) ?? { spentBase: 0n, feesBase: 0n }
    const own = sent.filter((transfer) => transfer.matchKey === matchKey)
    const rest = increaseBase - own.reduce((sum, { amountBase }) => sum + amountBase, 0n) + spentBase
    // A remainder within the account's own fees is a miscounted fee: rollups charge some that receipts do not contain.
    return rest === 0n || (rest > 0n && rest <= feesBase) ? [] : [matchKey]
  })
}

interface Change {
  readonly matchKey: string
  readonly increaseBase: bigint
}

async function changesIn(
  node: RpcNode,
  reader: BalanceReader,
  block: Block,
  matchKeys: readonly string[],
): Promise<readonly Change[]> {
  const { number: height, hash, parentHash, timestamp } = block
  const before = await reader.read(node, matchKeys, { height: height - 1, hash: parentHash })
  const place = { height, hash, time: timestamp * 1_000 }
  const after = before === null ? null : await reader.read(node, matchKeys, place)
  if (before === null || after === null) {
    const details = { method: 'eth_getBalance' }
    throw new RpcFailure('pruned', `${node.host} has dropped the balances of block ${height}`, details)
  }
  return matchKeys.flatMap((matchKey) => {
    const increaseBase = (after.get(matchKey) ?? 0n) - (before.get(matchKey) ?? 0n)
    return increaseBase === 0n ? [] : { matchKey, increaseBase }
  })
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
