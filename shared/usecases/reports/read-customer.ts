import type { InvoiceLookups } from '#shared/db/invoices/admin-invoice-lookups.ts'
import { booksOf } from '#shared/domain/books/invoice-books.ts'
import { type Movement, movementsOf } from '#shared/domain/books/movements.ts'
import type { AssetId, FiatCode, Mode } from '#shared/domain/enumerations.ts'
import { isSettled } from '#shared/domain/invoice/totals.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import { recordsOfInvoices } from '#shared/usecases/reports/records-of-invoices.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Invoices held in memory at once, with their payments and refunds. */
const BATCH = 500
/** A customer with more invoices than this gets totals of the newest ones. */
const INVOICES_MAX = 5_000

/** A customer of a workspace in one mode: everyone whose invoices carry this e-mail address, however its letters are written. */
export interface CustomerScope {
  readonly workspaceId: string
  readonly mode: Mode
  readonly email: string
}

/** Money of a customer in one currency, in minor units. Prices, what is short and what is above are of invoices that were paid. */
interface CurrencyTotals {
  readonly currency: FiatCode
  /** All invoices, and their prices. */
  readonly count: number
  readonly minor: bigint
  readonly paidCount: number
  readonly price: bigint
  readonly short: bigint
  readonly excess: bigint
  /** Of all invoices, at the price's rate. */
  readonly received: bigint
  readonly refunded: bigint
}

/** What a customer was asked for and paid. Sums are exact. */
export interface CustomerTotals {
  readonly invoices: number
  /** False when the customer has more invoices than are added up; the totals are of the newest. */
  readonly complete: boolean
  readonly currencies: readonly CurrencyTotals[]
  /** Confirmed on chain, whether it counts or not, and refunded, by coin, in base units. */
  readonly coins: readonly CoinTotals[]
}

interface CoinTotals {
  readonly asset: AssetId
  readonly invoices: number
  readonly confirmedBase: bigint
  readonly refundedBase: bigint
}

/** Adds up all invoices of a customer; only one batch is in memory at a time. */
export async function readCustomerTotals(
  deps: Uses<'paymentLookups' | 'refunds'> & { readonly lookups: Pick<InvoiceLookups, 'page'> },
  scope: CustomerScope,
): Promise<CustomerTotals> {
  const currencies = new Map<FiatCode, CurrencyTotals>()
  const coins = new Map<AssetId, CoinTotals>()
  let count = 0
  let beforeId: string | null = null
  do {
    const page: Awaited<ReturnType<InvoiceLookups['page']>> = await deps.lookups.page(
      customerQuery(scope, BATCH, beforeId),
    )
    for (const { invoice, payments, refunds } of await recordsOfInvoices(deps, page.invoices)) {
      const movements = movementsOf(invoice, payments, refunds)
      addMoney(currencies, invoice, movements)
      addCoins(coins, movements)
    }
    count += page.invoices.length
    beforeId = page.next
  } while (beforeId !== null && count < INVOICES_MAX)
  return {
    invoices: count,
    complete: beforeId === null,
    currencies: [...currencies.values()].sort((one, other) => other.count - one.count),
    coins: [...coins.values()].sort((one, other) => other.invoices - one.invoices),
  }
}

/** The invoices of a customer, newest first. */
export function customerQuery(
  { workspaceId, mode, email }: CustomerScope,
  limit: number,
  beforeId: string | null,
): Parameters<InvoiceLookups['page']>[0] {
  const unfiltered = { status: null, asset: null, source: null, flag: null, createdFrom: null, createdTo: null }
  return { ...{ workspaceId, mode, limit, beforeId }, ...unfiltered, search: { kind: 'email', email } }
}

function addMoney(sums: Map<FiatCode, CurrencyTotals>, invoice: Invoice, movements: readonly Movement[]): void {
  const { currency } = invoice.terms.fiat
  const known = sums.get(currency)
  const books = booksOf(invoice, movements)
  const paid = isSettled(invoice.state) ? books : null
  sums.set(currency, {
    currency,
    count: (known?.count ?? 0) + 1,
    minor: (known?.minor ?? 0n) + books.price,
    paidCount: (known?.paidCount ?? 0) + (paid === null ? 0 : 1),
    price: (known?.price ?? 0n) + (paid?.price ?? 0n),
    short: (known?.short ?? 0n) + (paid?.short ?? 0n),
    excess: (known?.excess ?? 0n) + (paid?.excess ?? 0n),
    received: (known?.received ?? 0n) + books.received,
    refunded: (known?.refunded ?? 0n) + books.refunded,
  })
}

function addCoins(sums: Map<AssetId, CoinTotals>, movements: readonly Movement[]): void {
  for (const asset of new Set(movements.map((movement) => movement.asset))) {
    const known = sums.get(asset)
    const sum = (isRefund: boolean) =>
      movements
        .filter((movement) => movement.asset === asset && (movement.kind === 'refund') === isRefund)
        .reduce((total, { amountBase }) => total + amountBase, 0n)
    sums.set(asset, {
      asset,
      invoices: (known?.invoices ?? 0) + 1,
      confirmedBase: (known?.confirmedBase ?? 0n) + sum(false),
      refundedBase: (known?.refundedBase ?? 0n) - sum(true),
    })
  }
}
