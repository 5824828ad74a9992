import type { BalanceLedger, SeenRise } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import type { RpcPool } from '../../nodes/rpc-pool.ts'
import { type BalanceReader, createBalanceReader } from './balances.ts'
import { fallsBackToBalances } from './block-scan.ts'
import type { InternalMoves } from './options.ts'
import type { TraceReader } from './traces.ts'

/** Rises that a second node is asked about at the same time. */
const CONCURRENCY = 4

/** Balances from whichever node has them; in use until a node offers traces, unless balances were asked for by name. */
export function createBalanceLedger(
  internal: InternalMoves,
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
    // The one in use dropped that state; an archive may stand beside it.
    const answers = await pool.each((node) => reader.read(node, matchKeys, block).catch(ignoreNode))
    return answers.find((answer) => answer !== null) ?? null
  }

  return {
    get inUse() {
      return internal.ledger === 'balance' || (fallsBackToBalances(internal) && !traces.wasOffered)
    },
    async read(matchKeys, block) {
      if (matchKeys.length === 0) return new Map()
      try {
        return await readSomewhere(matchKeys, block)
      } catch (error) {
        // Nobody asked for balances here: a node that keeps them to itself must not stop the scan.
        const isAsked = internal.required && internal.ledger === 'balance'
        if (!isAsked && error instanceof RpcFailure && error.kind === 'refused') return null
        throw error
      }
    },
    async doubted(rises) {
      const byKey = new Map(rises.map((rise) => [rise.key, rise]))
      const asked = rises.map(({ key, height, hash }) => ({ txHash: key, height, blockHash: hash }))
      return pool.doubted(asked, async (node, questions) => {
        const open = questions.flatMap(({ txHash }) => byKey.get(txHash) ?? [])
        const answers = await mapConcurrently(open, CONCURRENCY, async (rise) =>
          (await isContradicted(reader, node, rise)) ? [rise.key] : [],
        )
        return answers.flat()
      })
    },
  }
}

async function isContradicted(reader: BalanceReader, node: RpcNode, rise: SeenRise): Promise<boolean> {
  const { matchKey, since, hash, beforeBase, afterBase } = rise
  const after = await readOrNone(reader, node, matchKey, { hash })
  const before = await readOrNone(reader, node, matchKey, since)
  const differs = (found: ReadonlyMap<string, bigint> | null, told: string) =>
    found !== null && found.get(matchKey) !== BigInt(told)
  return differs(after, afterBase) || differs(before, beforeBase)
}

/** A node that keeps balances to itself is as good as one that has dropped them. */
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
