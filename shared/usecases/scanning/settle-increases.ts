import type { Payment } from '#shared/ports/payments.ts'
import type { BalanceChange, ScannedBlock, TransferBlock } from '#shared/ports/scanned-blocks.ts'
import type { BalanceLedger } from '#shared/ports/scanning.ts'
import { type IncreaseScope, type PlacedIncrease, placeIncreases, withIncreases } from './balance-increase-transfers.ts'
import { type BlockFlow, covers, type FoundIncrease, flowsIn } from './balance-sheet.ts'

/** Balance changes of one block. */
export interface BlockChanges {
  /** Scanned with the changed accounts among `accounts`, so that it contains their spending. */
  readonly block: ScannedBlock
  readonly changes: readonly BalanceChange[]
}

/**
 * The same blocks with a balance increase among the transfers for each account that gained more coins in a block than the block's transactions
 * and its stored payments explain: balance − balance at the parent − received directly + own spending. A gain within the account's own fees is
 * a miscounted fee. Block and amount are a function of the chain alone, and a repetition finds nothing twice. Writes nothing; call it before
 * the lease is asserted, because the key of an increase depends on stored payments. Unchanged where the network has no balances to read.
 */
export async function settleIncreases(
  scope: IncreaseScope,
  found: readonly BlockChanges[],
): Promise<readonly TransferBlock[]> {
  const { balances } = scope.source.client
  const blocks = found.map(({ block }) => block)
  if (balances === undefined) return blocks
  const byAccount = new Map<string, FoundIncrease[]>()
  for (const { block, changes } of found) {
    const flowsOf = flowsIn([block])
    for (const change of changes) {
      const [flow = { netBase: 0n, feesBase: 0n }] = flowsOf(change.matchKey)
      const amountBase = await unexplained(scope, balances, block, { ...change, ...flow })
      if (amountBase === 0n) continue
      const since = { height: block.height - 1, hash: block.parentHash }
      const readings = { beforeBase: change.beforeBase.toString(), afterBase: change.afterBase.toString() }
      const one = { height: block.height, amountBase, increase: { since, ...readings } }
      byAccount.set(change.matchKey, [...(byAccount.get(change.matchKey) ?? []), one])
    }
  }
  // All of an account at once: equal amounts in several blocks are numbered.
  const placed: PlacedIncrease[] = []
  for (const [matchKey, increases] of byAccount)
    placed.push(...(await placeIncreases(scope, blocks, matchKey, increases)))
  return withIncreases(blocks, placed)
}

/** What no payment explains yet, never below zero. */
async function unexplained(
  scope: IncreaseScope,
  { asset }: Pick<BalanceLedger, 'asset'>,
  block: ScannedBlock,
  { matchKey, beforeBase, afterBase, netBase, feesBase }: BalanceChange & Omit<BlockFlow, 'height'>,
): Promise<bigint> {
  if (block.spending === undefined) throw new TypeError(`block ${block.height} was scanned without accounts`)
  const gainBase = afterBase - beforeBase - netBase
  // A gain within the account's own fees is a miscounted fee, and one of zero or less is none: no stored payment is asked for.
  if (gainBase <= feesBase) return 0n
  const recorded = await recordedPayments(scope, block, { matchKey, asset })
  if (recorded === 'wider') return 0n
  const restBase = gainBase - recorded.reduce((sum, { amountBase }) => sum + amountBase, 0n)
  return restBase > feesBase ? restBase : 0n
}

/** Stored payments of the block to the account that were not just read; `wider`: one that sums up more blocks explains all. */
async function recordedPayments(
  { deps, source }: IncreaseScope,
  block: ScannedBlock,
  { matchKey, asset }: Pick<BalanceChange, 'matchKey'> & Pick<BalanceLedger, 'asset'>,
): Promise<readonly Payment[] | 'wider'> {
  const { mode, network } = source
  const scope = {
    mode,
    network,
    assets: [asset],
    matchKeys: [matchKey],
    from: block.height,
    to: Number.MAX_SAFE_INTEGER,
  }
  const stored = await deps.payments.listInBlocks(scope)
  for (const payment of stored) {
    const { block: at } = payment
    if (at?.increase === undefined || at.height === block.height || !covers(payment, block.height)) continue
    if ((await source.client.blockAt(at.height))?.hash === at.hash) return 'wider'
  }
  const read = new Set(block.transfers.map(({ key }) => key))
  return stored.filter((payment) => payment.block?.hash === block.hash && !read.has(payment.key))
}
