import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { LedgerTransfer } from '#shared/ports/scanned-blocks.ts'

/** The part of a transfer that is compared. */
type Transfer = Pick<LedgerTransfer, 'txHash' | 'matchKey' | 'amountBase' | 'spends'>

/**
 * When the money behind a transfer was first seen: a transaction that replaces those of earlier payments and pays the same script at most as
 * much as they did together is the same payment for the payer, from when that much was there. One that pays more is new: otherwise a little that was
 * paid in time would keep the price for the whole. Infinity when it replaces none. Of earlier ones that replace each other one counts: never
 * more than could be there at a time. `transfers` are all that the transactions in question pay to their scripts.
 */
export function firstSeenOfReplaced(
  earlier: readonly Payment[],
  transfers: readonly Transfer[],
): (transfer: Transfer) => Ms {
  const spentIn = new Map<string, Set<string | null>>()
  const outpointsOf = new Map<string | null, string[]>()
  const before = new Map<string, { readonly seenAt: Ms; readonly sumBase: bigint }>()
  for (const payment of earlier) {
    const { txHash, spends, firstSeenAt, amountBase } = payment
    for (const outpoint of spends) spentIn.set(outpoint, (spentIn.get(outpoint) ?? new Set()).add(txHash))
    outpointsOf.set(txHash, [...(outpointsOf.get(txHash) ?? []), ...spends])
    const { seenAt, sumBase } = before.get(nameOf(payment)) ?? { seenAt: firstSeenAt, sumBase: 0n }
    before.set(nameOf(payment), { seenAt: Math.min(seenAt, firstSeenAt), sumBase: sumBase + amountBase })
  }
  const sums = new Map<string, bigint>()
  for (const transfer of transfers) {
    sums.set(nameOf(transfer), (sums.get(nameOf(transfer)) ?? 0n) + transfer.amountBase)
  }
  return (transfer) => {
    const { matchKey, spends = [] } = transfer
    const dueBase = sums.get(nameOf(transfer)) ?? 0n
    const replaced = new Set(spends.flatMap((outpoint) => [...(spentIn.get(outpoint) ?? [])]))
    const paid = [...replaced].flatMap((txHash) => {
      const sum = before.get(nameOf({ txHash, matchKey }))
      return sum === undefined ? [] : [{ ...sum, txHash, outpoints: outpointsOf.get(txHash) ?? [] }]
    })
    paid.sort((one, other) => one.seenAt - other.seenAt)
    const same = paid.find(({ txHash, sumBase }) => txHash === transfer.txHash || sumBase >= dueBase)
    let togetherBase = 0n
    const taken = new Set<string>()
    const last = paid.find(({ sumBase, outpoints }) => {
      if (outpoints.some((outpoint) => taken.has(outpoint))) return false
      for (const outpoint of outpoints) taken.add(outpoint)
      togetherBase += sumBase
      return togetherBase >= dueBase
    })
    return Math.min(same?.seenAt ?? Number.POSITIVE_INFINITY, last?.seenAt ?? Number.POSITIVE_INFINITY)
  }
}

/** A transaction and a script that it pays. */
const nameOf = ({ txHash, matchKey }: Pick<Transfer, 'txHash' | 'matchKey'>): string => `${txHash} ${matchKey}`
