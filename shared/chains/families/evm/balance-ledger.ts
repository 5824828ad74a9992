import type { BalanceLedger, SeenIncrease } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import type { RpcPool } from '../../nodes/rpc-pool.ts'
import { checksumAddress } from './address.ts'
import { type BalanceReader, createBalanceReader } from './balances.ts'
import type { EvmClientOptions } from './options.ts'

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
    async read(matchKeys, block) {
      if (matchKeys.length === 0) return new Map()
      const found = await pool.use((node) => reader.read(node, matchKeys, block), { height: block.height })
      if (found !== null) return found
      // The node in use dropped that state; another one may be an archive.
      const answers = await pool.each((node) => reader.read(node, matchKeys, block).catch(ignoreNode))
      return answers.find((answer) => answer !== null) ?? null
    },
    async disputed(increases) {
      const byKey = new Map(increases.map((increase) => [increase.key, increase]))
      const asked = increases.map(({ key, height, hash }) => ({ txHash: key, height, blockHash: hash }))
      return pool.disputed(asked, async (node, questions) => {
        const open = questions.flatMap(({ txHash }) => byKey.get(txHash) ?? [])
        const answers = await mapConcurrently(open, CONCURRENCY, async (increase) =>
          (await isContradicted(reader, node, increase)) ? [increase.key] : [],
        )
        return answers.flat()
      })
    },
  }
}

async function isContradicted(reader: BalanceReader, node: RpcNode, increase: SeenIncrease): Promise<boolean> {
  const { matchKey, since, height, hash, beforeBase, afterBase } = increase
  const after = await readOrNone(reader, node, matchKey, { height, hash })
  const before = await readOrNone(reader, node, matchKey, since)
  const differs = (found: ReadonlyMap<string, bigint> | null, recorded: string) =>
    found !== null && found.get(matchKey) !== BigInt(recorded)
  return differs(after, afterBase) || differs(before, beforeBase)
}

/** A node that refuses balances is treated like one that has dropped them. */
async function readOrNone(reader: BalanceReader, node: RpcNode, matchKey: string, block: Parameters<BalanceReader['read']>[2]) {
  try {
    return await reader.read(node, [matchKey], block)
  } catch (error) {
    if (error instanceof RpcFailure && error.kind === 'refused') return null
    throw error
  }
}

function ignoreNode(error: unknown): null {
  if (error instanceof RpcFailure) return null
  throw error
}
