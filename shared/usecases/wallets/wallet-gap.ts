import type { WalletGap } from '#shared/contracts/wallet-previews.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { addressClaim } from './address-standing.ts'

/** Unused addresses in a row after which wallets stop searching (BIP 44). */
export const USUAL_GAP_LIMIT = 20
const PAGE = 500
/** How many of the newest addresses a page of the dashboard, or of the command line, looks at: 20 pages of the store. */
export const GAP_LOOK_BACK = 10_000

/**
 * Reads which issued addresses of a key received money. A wallet restored with the usual gap limit shows no money
 * behind a longer run of unpaid addresses, so the longest run counts and not only the last one. The wallet already shows
 * addresses before the key's start index. Reads at most the `most` newest addresses, so that a page costs the same however many were issued.
 */
export async function walletGap(
  deps: Uses<'wallets' | 'invoices'>,
  material: Pick<KeyMaterial, 'id' | 'mode' | 'family' | 'nextIndex' | 'history'>,
  most: number,
): Promise<WalletGap> {
  const { id, mode, family, nextIndex, history } = material
  const firstIndex = history?.startIndex ?? 0
  const startIndex = Math.max(firstIndex, nextIndex - most)
  let lastPaidIndex: number | null = null
  let requiredGap = 0
  for (let from = startIndex; from < nextIndex; from += PAGE) {
    const indexes = Array.from({ length: Math.min(PAGE, nextIndex - from) }, (_, offset) => from + offset)
    const rows = await deps.wallets.addressesAt(id, indexes)
    const claimOf = (matchKey: string) => addressClaim(mode, family, matchKey)
    const paid = await deps.invoices.claimsPaid(rows.map(({ matchKey }) => claimOf(matchKey)))
    for (const { index, matchKey } of rows) {
      if (!paid.has(claimOf(matchKey))) continue
      requiredGap = Math.max(requiredGap, index - (lastPaidIndex ?? startIndex - 1))
      lastPaidIndex = index
    }
  }
  return {
    lastPaidIndex,
    nextIndex,
    requiredGap: Math.max(requiredGap, nextIndex - 1 - (lastPaidIndex ?? startIndex - 1)),
    isComplete: startIndex === firstIndex,
  }
}
