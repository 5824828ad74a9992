import type { Payment, PaymentRepository } from '#shared/ports/payments.ts'
import type { BlockRef, LedgerTransfer } from '#shared/ports/scanning.ts'
import { type Position, riseKeyPrefix } from './balance-increase-keys.ts'

/** Blocks with what was found in them. */
export interface TransferBlock extends BlockRef {
  readonly transfers: readonly LedgerTransfer[]
}

/**
 * Leaves out coins that moved inside of calls where a balance told of them before, in these very blocks: the ledger of a network
 * may change between two readings of one block, and the first word stands.
 */
export async function withoutTold<T extends TransferBlock>(
  { payments }: { readonly payments: Pick<PaymentRepository, 'listByKeyPrefix'> },
  position: Position,
  blocks: readonly T[],
): Promise<readonly T[]> {
  const inside = blocks.flatMap(({ transfers }) => transfers.filter((transfer) => transfer.inside))
  if (inside.length === 0) return blocks
  const accounts = [...new Set(inside.map(({ matchKey }) => matchKey))]
  const told = (
    await Promise.all(accounts.map((account) => payments.listByKeyPrefix(riseKeyPrefix(position, account))))
  ).flat()
  const hashes = new Map(blocks.map(({ height, hash }) => [height, hash]))
  const standing = told.filter((payment) => stands(payment, hashes))
  const isTold = (height: number, { inside, matchKey }: LedgerTransfer) =>
    inside === true && standing.some((payment) => payment.matchKey === matchKey && covers(payment, height))
  return blocks.map((block) => ({
    ...block,
    transfers: block.transfers.filter((transfer) => !isTold(block.height, transfer)),
  }))
}

/** Alive, and not in a block that another one of these replaced. */
function stands({ state, block }: Payment, hashes: ReadonlyMap<number, string>): boolean {
  const isLive = state === 'detected' || state === 'confirmed'
  return isLive && block !== null && (hashes.get(block.height) ?? block.hash) === block.hash
}

/** Whether what moved inside of calls at this height is in a payment that a balance told of. */
export function covers({ block }: Payment, height: number): boolean {
  return block !== null && height <= block.height && height > (block.rise?.since.height ?? block.height - 1)
}
