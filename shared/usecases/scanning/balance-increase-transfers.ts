import type { AssetId } from '#shared/domain/enumerations.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { BlockRef, LedgerTransfer } from '#shared/ports/scanning.ts'
import { riseKey, riseKeyPrefix } from '#shared/usecases/payments/balance-increase-keys.ts'
import type { FoundRise } from './balance-sheet.ts'
import type { ScanSession } from './scan-session.ts'

/** Whose account it is. */
export interface CoinHolder {
  readonly address: string
  readonly asset: AssetId
  /** Invoices that wait for the coin there. */
  readonly invoiceIds: ReadonlySet<string>
}

/** A rise as a transfer, and the block that it stands in. */
export interface PlacedRise {
  readonly height: number
  readonly transfer: LedgerTransfer
}

/**
 * Gives each rise the lowest ordinal that is free: whose payment was never there, or was one of the same invoices and stands
 * nowhere any more. So a payment keeps its key when its block is made again.
 */
export async function placeRises(
  { deps, source, cursor }: ScanSession,
  blocks: readonly BlockRef[],
  { matchKey, holder }: { readonly matchKey: string; readonly holder: CoinHolder },
  rises: readonly FoundRise[],
): Promise<readonly PlacedRise[]> {
  const hashes = new Set(blocks.map(({ hash }) => hash))
  const isTaken = ({ state, block, invoiceId }: Payment): boolean => {
    const isLive = block !== null && (state === 'detected' || state === 'confirmed')
    if (isLive && (block.height <= cursor.height || hashes.has(block.hash))) return true
    return invoiceId === null || !holder.invoiceIds.has(invoiceId)
  }
  const taken = new Set<string>()
  const placed: PlacedRise[] = []
  for (const { height, amountBase, rise } of rises) {
    const stored = await deps.payments.listByKeyPrefix(`${riseKeyPrefix(source, matchKey)}:${amountBase}`)
    for (const payment of stored) if (isTaken(payment)) taken.add(payment.key)
    let ordinal = 0
    while (taken.has(riseKey(source, matchKey, amountBase, ordinal))) ordinal += 1
    const key = riseKey(source, matchKey, amountBase, ordinal)
    taken.add(key)
    const to = { matchKey, toAddress: holder.address, asset: holder.asset, contract: null, amountBase }
    placed.push({ height, transfer: { key, ...to, fromAddress: null, txHash: null, outputIndex: null, rise } })
  }
  return placed
}
