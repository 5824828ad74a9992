import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { LedgerTransfer } from '#shared/ports/scanned-blocks.ts'

/** The part of a transfer that is compared. */
type Transfer = Pick<LedgerTransfer, 'txHash' | 'matchKey' | 'amountBase' | 'spends'>

/**
 * When the money behind a transfer was first seen: a transaction that replaces that of an earlier payment and pays the same script at most as
 * much is the same payment for the payer. One that pays more is new: otherwise a little that was paid in time would keep the price for the
 * whole. Infinity when it replaces none. `transfers` are all that the transactions in question pay to their scripts.
 */
export function firstSeenOfReplaced(
  earlier: readonly Payment[],
  transfers: readonly Transfer[],
): (transfer: Transfer) => Ms {
  const spentIn = new Map<string, Set<string | null>>()
  for (const { txHash, spends } of earlier) {
    for (const outpoint of spends) spentIn.set(outpoint, (spentIn.get(outpoint) ?? new Set()).add(txHash))
  }
  const before = new Map<string, { readonly seenAt: Ms; readonly sumBase: bigint }>()
  for (const payment of earlier) {
    const { seenAt, sumBase } = before.get(nameOf(payment)) ?? { seenAt: payment.firstSeenAt, sumBase: 0n }
    before.set(nameOf(payment), {
      seenAt: Math.min(seenAt, payment.firstSeenAt),
      sumBase: sumBase + payment.amountBase,
    })
  }
  const sums = new Map<string, bigint>()
  for (const transfer of transfers) {
    sums.set(nameOf(transfer), (sums.get(nameOf(transfer)) ?? 0n) + transfer.amountBase)
  }
  return (transfer) => {
    const { matchKey, spends = [] } = transfer
    const replaced = new Set(spends.flatMap((outpoint) => [...(spentIn.get(outpoint) ?? [])]))
    const times = [...replaced].map((txHash) => {
      const paid = before.get(nameOf({ txHash, matchKey }))
      if (paid === undefined) return Number.POSITIVE_INFINITY
      const isSame = txHash === transfer.txHash || paid.sumBase >= (sums.get(nameOf(transfer)) ?? 0n)
      return isSame ? paid.seenAt : Number.POSITIVE_INFINITY
    })
    return Math.min(Number.POSITIVE_INFINITY, ...times)
  }
}

/** A transaction and a script that it pays. */
const nameOf = ({ txHash, matchKey }: Pick<Transfer, 'txHash' | 'matchKey'>): string => `${txHash} ${matchKey}`
