import type { SecondFigures } from '#shared/ports/scanned-blocks.ts'
import type { BalanceLedger, SeenIncrease } from '#shared/ports/scanning.ts'
import { ignoreUnclear } from '../../nodes/ignore-unclear.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import type { RpcPool } from '../../nodes/rpc-pool.ts'
import { unlessRefused } from '../../nodes/unless-refused.ts'
import { checksumAddress } from './address.ts'
import { type BalanceReader, createBalanceReader } from './balances.ts'
import { readBlock } from './fetch-blocks.ts'
import type { EvmClientOptions } from './options.ts'
import { spendingOf } from './receipts.ts'

/** Increases that are checked with a second node at the same time. */
const CONCURRENCY = 4

/** Balances of the network's coin from any node that has them. */
export function createBalanceLedger(
  { nativeAsset: asset, chain }: Pick<EvmClientOptions, 'nativeAsset' | 'chain'>,
  pool: RpcPool<RpcNode>,
): BalanceLedger {
  const reader = createBalanceReader(chain.numbersAreParents)

  return {
    asset,
    addressOf: checksumAddress,
    read: (matchKeys, block) =>
      pool.use((node) => reader.read(node, matchKeys, block), {
        settles: (found) => found !== null,
        height: block.height,
      }),
    async second(increases) {
      const found = new Map<string, SecondFigures>()
      const answered = disputedByOthers(pool, increases, async (node, increase) => {
        const figures = (await isCovered(node, increase)) ? await figuresOf(reader, node, increase) : 'other'
        if (figures !== null && found.get(increase.key) !== 'same') found.set(increase.key, figures)
        return figures === 'same'
      })
      await ignoreUnclear(answered)
      return found
    },
    disputed: (increases) =>
      disputedByOthers(pool, increases, async (node, increase) => {
        if (!(await isCovered(node, increase))) return false
        if (increase.second === 'same') return (await node.hashAt(increase.height)) === increase.hash
        const figures = await figuresOf(reader, node, increase)
        return (figures ?? increase.second ?? 'same') === 'same'
      }),
  }
}

/** Keys of the increases that no other node vouches for, as `RpcPool.disputed` has it for transactions. */
function disputedByOthers(
  pool: RpcPool<RpcNode>,
  increases: readonly SeenIncrease[],
  vouches: (node: RpcNode, increase: SeenIncrease) => Promise<boolean>,
): Promise<ReadonlySet<string>> {
  const byKey = new Map(increases.map((increase) => [increase.key, increase]))
  const transactions = increases.map(({ key, height, hash }) => ({ txHash: key, height, blockHash: hash }))
  return pool.disputed(transactions, async (node, questions) => {
    const open = questions.flatMap(({ txHash }) => byKey.get(txHash) ?? [])
    const answers = await mapConcurrently(open, CONCURRENCY, async (increase) =>
      (await vouches(node, increase)) ? [] : [increase.key],
    )
    return answers.flat()
  })
}

/**
 * Whether the amount is no more than what the figures grew by and, in the increase of one block, what the account itself sent in it by this node's
 * transactions: those that came with the increase are the word of one node.
 */
async function isCovered(
  node: RpcNode,
  { matchKey, amountBase, since, height, hash, beforeBase, afterBase }: SeenIncrease,
): Promise<boolean> {
  const unexplainedBase = amountBase - (BigInt(afterBase) - BigInt(beforeBase))
  if (unexplainedBase <= 0n) return true
  const block = since.height === height - 1 ? await readBlock(node, height) : null
  if (block?.hash !== hash) return false
  const spending = await spendingOf(node, block, new Set([matchKey]))
  return unexplainedBase <= (spending.get(matchKey)?.spentBase ?? 0n)
}

/** Null where the node has dropped one of the two states. */
async function figuresOf(
  reader: BalanceReader,
  node: RpcNode,
  { matchKey, since, height, hash, beforeBase, afterBase }: SeenIncrease,
): Promise<SecondFigures | null> {
  // A node that refuses balances is treated like one that has dropped them.
  const after = await unlessRefused(reader.read(node, [matchKey], { height, hash }))
  const before = await unlessRefused(reader.read(node, [matchKey], since))
  const isOther = (found: ReadonlyMap<string, bigint> | null, recorded: string) =>
    found !== null && found.get(matchKey) !== BigInt(recorded)
  if (isOther(after, afterBase) || isOther(before, beforeBase)) return 'other'
  return after === null || before === null ? null : 'same'
}
