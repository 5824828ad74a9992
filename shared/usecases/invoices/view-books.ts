import type { BooksView, CoinView, FiatView } from '#shared/contracts/checkout/invoice-view.ts'
import { booksOf } from '#shared/domain/books/invoice-books.ts'
import { type BookedPayment, type Movement, movementsOf } from '#shared/domain/books/movements.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import { latestQuote } from '#shared/domain/invoice/quote-window.ts'
import { displayUnits } from '#shared/domain/money/display.ts'
import { formatFiat } from '#shared/domain/money/fiat.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Confirmed money of an invoice beside its price, with what was sent back. `stored` are the payments of its ledger. */
export async function viewBooks(
  deps: Uses<'refunds' | 'catalog'>,
  invoice: Invoice,
  stored: readonly BookedPayment[],
): Promise<BooksView> {
  const { terms, refundSeq } = invoice
  const refunds = refundSeq === 0 ? [] : await deps.refunds.listByInvoice(terms.id)
  const movements = movementsOf(invoice, [...stored, ...unlisted(invoice)], refunds)
  const { received, short, shortKind, excess, refunded } = booksOf(invoice, movements)
  const { currency } = terms.fiat
  const fiat = (minor: bigint): FiatView => ({ value: formatFiat(minor, currency), currency })
  const orNone = (minor: bigint) => (minor === 0n ? null : fiat(minor))
  return {
    ...{
      received: fiat(received),
      short: orNone(short),
      shortKind,
      excess: orNone(excess),
      refunded: orNone(refunded),
    },
    coins: coinsOf(deps, movements),
    refunds: movements.flatMap(({ refund, at }) => {
      if (refund === null) return []
      const { txHash, network, mode } = refund
      const explorerUrl = txHash === null ? null : deps.catalog.explorerTxUrl(network, mode, txHash)
      return [{ ...viewCoin(deps, refund.asset, refund.amountBase), txHash, explorerUrl, at }]
    }),
  }
}

/** Payments beyond the last row of the ledger are not read for a page of strangers: their sum stands for them. */
function unlisted({ state, terms }: Invoice): readonly BookedPayment[] {
  const active = activePaymentMethod(state)
  const amountBase = state.others?.confirmedBase ?? 0n
  if (active === null || amountBase === 0n) return []
  const { asset, network, matchKey } = active
  const { quotedAt: firstSeenAt } = latestQuote(active)
  return [
    {
      ...{ id: terms.id, key: '', asset, network, matchKey, amountBase, kind: 'simulated', state: 'confirmed' },
      ...{ firstSeenAt, bookedAt: [state.updatedAt], counted: true },
    },
  ]
}

function coinsOf(deps: Uses<'catalog'>, movements: readonly Movement[]): readonly CoinView[] {
  const sums = new Map<AssetId, bigint>()
  for (const { asset, appliedBase, excessBase } of movements) {
    sums.set(asset, (sums.get(asset) ?? 0n) + appliedBase + excessBase)
  }
  return [...sums].filter(([, base]) => base > 0n).map(([asset, base]) => viewCoin(deps, asset, base))
}

function viewCoin({ catalog }: Uses<'catalog'>, asset: AssetId, base: bigint): CoinView {
  const info = catalog.asset(asset)
  return { amount: displayUnits(base, info), symbol: info.symbol, network: info.network }
}
