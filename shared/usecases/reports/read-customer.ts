import type { InvoiceLookups } from '#shared/db/invoices/admin-invoice-lookups.ts'
import type { AssetId, FiatCode, Mode } from '#shared/domain/enumerations.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import { isSettled, totals } from '#shared/domain/invoice/totals.ts'
import type { Invoice } from '#shared/ports/invoices.ts'

/** Invoices held in memory at once. */
const BATCH = 500
/** A customer with more invoices than this gets totals of the newest ones. */
const INVOICES_MAX = 5_000

/** A customer of a workspace in one mode: everyone whose invoices carry this e-mail address. */
export interface CustomerScope {
  readonly workspaceId: string
  readonly mode: Mode
  readonly email: string
}

/** What a customer was asked for and paid. Sums are exact. */
export interface CustomerTotals {
  readonly invoices: number
  /** False when the customer has more invoices than are added up; the totals are of the newest. */
  readonly complete: boolean
  /** By currency of the price, in minor units; `paid` are the prices of settled invoices. */
  readonly currencies: readonly {
    readonly currency: FiatCode
    readonly count: number
    readonly minor: bigint
    readonly paidCount: number
    readonly paidMinor: bigint
  }[]
  /** Confirmed on chain and applied to their invoices, by coin, in base units. */
  readonly coins: readonly { readonly asset: AssetId; readonly invoices: number; readonly confirmedBase: bigint }[]
}

/** Adds up all invoices of a customer; only one batch is in memory at a time. */
export async function readCustomerTotals(
  deps: { readonly lookups: Pick<InvoiceLookups, 'page'> },
  scope: CustomerScope,
): Promise<CustomerTotals> {
  const currencies = new Map<FiatCode, CustomerTotals['currencies'][number]>()
  const coins = new Map<AssetId, CustomerTotals['coins'][number]>()
  let count = 0
  let beforeId: string | null = null
  do {
    const page: Awaited<ReturnType<InvoiceLookups['page']>> = await deps.lookups.page(
      customerQuery(scope, BATCH, beforeId),
    )
    for (const invoice of page.invoices) {
      addPrice(currencies, invoice)
      addCoin(coins, invoice)
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

function addPrice(
  sums: Map<FiatCode, CustomerTotals['currencies'][number]>,
  { terms: { fiat }, state }: Pick<Invoice, 'terms' | 'state'>,
): void {
  const known = sums.get(fiat.currency)
  const isPaid = isSettled(state)
  sums.set(fiat.currency, {
    currency: fiat.currency,
    count: (known?.count ?? 0) + 1,
    minor: (known?.minor ?? 0n) + fiat.minor,
    paidCount: (known?.paidCount ?? 0) + (isPaid ? 1 : 0),
    paidMinor: (known?.paidMinor ?? 0n) + (isPaid ? fiat.minor : 0n),
  })
}

function addCoin(
  sums: Map<AssetId, CustomerTotals['coins'][number]>,
  { state }: Pick<Invoice, 'terms' | 'state'>,
): void {
  const paymentMethod = activePaymentMethod(state)
  const { confirmedBase } = totals(state)
  if (paymentMethod === null || confirmedBase === 0n) return
  const known = sums.get(paymentMethod.asset)
  sums.set(paymentMethod.asset, {
    asset: paymentMethod.asset,
    invoices: (known?.invoices ?? 0) + 1,
    confirmedBase: (known?.confirmedBase ?? 0n) + confirmedBase,
  })
}
