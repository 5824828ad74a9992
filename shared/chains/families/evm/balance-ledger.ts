import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import type { BalanceLedger, SeenIncrease } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import type { RpcPool } from '../../nodes/rpc-pool.ts'
import { checksumAddress } from './address.ts'
import { type BalanceReader, createBalanceReader } from './balances.ts'
import { fallsBackToBalances } from './block-scan.ts'
import type { EvmClientOptions } from './options.ts'
import type { TraceReader } from './traces.ts'

/** Increases that are checked with a second node at the same time. */
const CONCURRENCY = 4

/** Balances from any node that has them; in use until a node offers traces, unless balances were configured. */
export function createBalanceLedger(
  { internal, nativeAsset }: Pick<EvmClientOptions, 'internal' | 'nativeAsset'>,
  pool: RpcPool<RpcNode>,
  traces: TraceReader,
): BalanceLedger {
  const reader = createBalanceReader()

  async function readSomewhere(
    matchKeys: readonly string[],
    block: { readonly height: number; readonly hash: string },
  ) {
    const found = await pool.use((node) => reader.read(node, matchKeys, block), { height: block.height })
    if (found !== null) return found
    // The node in use dropped that state; another one may be an archive.
    const answers = await pool.each((node) => reader.read(node, matchKeys, block).catch(ignoreNode))
    return answers.find((answer) => answer !== null) ?? null
  }

  /** Null when no node has it, or none serves balances although they were not configured. */
  async function readBalances(
    matchKeys: readonly string[],
    block: { readonly height: number; readonly hash: string },
  ): Promise<ReadonlyMap<string, bigint> | null> {
    if (matchKeys.length === 0) return new Map()
    try {
      return await readSomewhere(matchKeys, block)
    } catch (error) {
      // Balances were not configured here: a node that does not serve them must not stop the scan.
      const isAsked = internal.required && internal.ledger === 'balance'
      if (!isAsked && error instanceof RpcFailure && error.kind === 'refused') return null
      throw error
    }
  }

  return {
    get inUse() {
      return internal.ledger === 'balance' || (fallsBackToBalances(internal) && !traces.wasOffered)
    },
    read: readBalances,
    async increases(block, matchKeys) {
      const before = await readBalances(matchKeys, { height: block.height - 1, hash: block.parentHash })
      const after = before === null ? null : await readBalances(matchKeys, block)
      if (before === null || after === null) return null
      return matchKeys.flatMap((matchKey) => {
        const [beforeBase, afterBase] = [before.get(matchKey) ?? 0n, after.get(matchKey) ?? 0n]
        const { netBase: knownBase, feesBase } = flowOf(block, matchKey)
        const rest = afterBase - beforeBase - knownBase
        // A remainder within the account's own fees is a miscounted fee: rollups charge some that receipts do not contain.
        if (rest <= feesBase) return []
        const address = checksumAddress(matchKey)
        return { matchKey, address, asset: nativeAsset, beforeBase, afterBase, knownBase, feesBase }
      })
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

/** What an account received directly in a block, minus what it spent by its own transactions, and the fees in that. */
function flowOf({ transfers, spending }: ScannedBlock, matchKey: string) {
  const { spentBase, feesBase } = spending?.get(matchKey) ?? { spentBase: 0n, feesBase: 0n }
  const received = transfers
    .filter((transfer) => transfer.matchKey === matchKey && transfer.contract === null)
    .reduce((sum, { amountBase }) => sum + amountBase, 0n)
  return { netBase: received - spentBase, feesBase }
}

async function isContradicted(reader: BalanceReader, node: RpcNode, increase: SeenIncrease): Promise<boolean> {
  const { matchKey, since, hash, beforeBase, afterBase } = increase
  const after = await readOrNone(reader, node, matchKey, { hash })
  const before = await readOrNone(reader, node, matchKey, since)
  const differs = (found: ReadonlyMap<string, bigint> | null, recorded: string) =>
    found !== null && found.get(matchKey) !== BigInt(recorded)
  return differs(after, afterBase) || differs(before, beforeBase)
}

/** A node that refuses balances is treated like one that has dropped them. */
async function readOrNone(reader: BalanceReader, node: RpcNode, matchKey: string, block: { readonly hash: string }) {
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
