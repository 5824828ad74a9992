import type { PaymentRepository } from '#shared/db/payments/payment-repository.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { BlockRef, LedgerTransfer } from '#shared/ports/scanned-blocks.ts'
import { increaseKeyPrefix, type Position } from './balance-increase-keys.ts'

/** Blocks with the transfers found in them. */
export interface TransferBlock extends BlockRef {
  readonly transfers: readonly LedgerTransfer[]
}

/**
 * Drops internal transfers that a balance reading of the same blocks already recorded. A network's coin ledger
 * may change between two reads of a block; the first record wins.
 */
export async function dropBalanceDuplicates<T extends TransferBlock>(
  { payments }: { readonly payments: Pick<PaymentRepository, 'listByKeyPrefix'> },
  position: Position,
  blocks: readonly T[],
): Promise<readonly T[]> {
  const inside = blocks.flatMap(({ transfers }) => transfers.filter((transfer) => transfer.inside))
  if (inside.length === 0) return blocks
  const accounts = [...new Set(inside.map(({ matchKey }) => matchKey))]
  const recorded = (
    await Promise.all(accounts.map((account) => payments.listByKeyPrefix(increaseKeyPrefix(position, account))))
  ).flat()
  const hashes = new Map(blocks.map(({ height, hash }) => [height, hash]))
  const standing = recorded.filter((payment) => stands(payment, hashes))
  const isRecorded = (height: number, { inside, matchKey }: LedgerTransfer) =>
    inside === true && standing.some((payment) => payment.matchKey === matchKey && covers(payment, height))
  return blocks.map((block) => ({
    ...block,
    transfers: block.transfers.filter((transfer) => !isRecorded(block.height, transfer)),
  }))
}

/** Valid, and not in a block that one of these blocks replaced. */
function stands({ state, block }: Payment, hashes: ReadonlyMap<number, string>): boolean {
  const isLive = state === 'detected' || state === 'confirmed'
  return isLive && block !== null && (hashes.get(block.height) ?? block.hash) === block.hash
}

/** Whether a payment detected from balances covers the internal transfers at this height. */
export function covers({ block }: Payment, height: number): boolean {
  return block !== null && height <= block.height && height > (block.increase?.since.height ?? block.height - 1)
}
