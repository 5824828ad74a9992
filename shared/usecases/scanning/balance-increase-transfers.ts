import type { AssetId } from '#shared/domain/enumerations.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { BlockRef, LedgerTransfer } from '#shared/ports/scanned-blocks.ts'
import { increaseKey, increaseKeyPrefix } from '#shared/usecases/payments/balance-increase-keys.ts'
import type { FoundIncrease } from './balance-sheet.ts'
import type { ScanSession } from './scan-session.ts'

/** The owner of an account. */
export interface CoinHolder {
  readonly address: string
  readonly asset: AssetId
  /** Invoices that wait for the coin at this account. */
  readonly invoiceIds: ReadonlySet<string>
}

/** A balance increase as a transfer, and its block. */
export interface PlacedIncrease {
  readonly height: number
  readonly transfer: LedgerTransfer
}

/**
 * Gives each increase the lowest free ordinal: one that no payment has, or whose payment belonged to the same invoices and is
 * no longer in any block. So a payment keeps its key when its block is rebuilt.
 */
export async function placeIncreases(
  { deps, source, cursor }: ScanSession,
  blocks: readonly BlockRef[],
  { matchKey, holder }: { readonly matchKey: string; readonly holder: CoinHolder },
  increases: readonly FoundIncrease[],
): Promise<readonly PlacedIncrease[]> {
  const hashes = new Set(blocks.map(({ hash }) => hash))
  const isTaken = ({ state, block, invoiceId }: Payment): boolean => {
    const isLive = block !== null && (state === 'detected' || state === 'confirmed')
    if (isLive && (block.height <= cursor.height || hashes.has(block.hash))) return true
    return invoiceId === null || !holder.invoiceIds.has(invoiceId)
  }
  const taken = new Set<string>()
  const placed: PlacedIncrease[] = []
  for (const { height, amountBase, increase } of increases) {
    const stored = await deps.payments.listByKeyPrefix(`${increaseKeyPrefix(source, matchKey)}:${amountBase}`)
    for (const payment of stored) if (isTaken(payment)) taken.add(payment.key)
    let ordinal = 0
    while (taken.has(increaseKey(source, matchKey, amountBase, ordinal))) ordinal += 1
    const key = increaseKey(source, matchKey, amountBase, ordinal)
    taken.add(key)
    const to = { matchKey, toAddress: holder.address, asset: holder.asset, contract: null, amountBase }
    placed.push({ height, transfer: { key, ...to, fromAddress: null, txHash: null, outputIndex: null, increase } })
  }
  return placed
}
