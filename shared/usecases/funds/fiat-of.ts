import type { InvoiceLookups } from '#shared/db/invoices/admin-invoice-lookups.ts'
import type { AssetId, FiatCode } from '#shared/domain/enumerations.ts'
import { formatFiat } from '#shared/domain/money/money.ts'
import type { ArsSeries } from '#shared/ports/rates.ts'
import { fiatMinor } from '#shared/usecases/rates/fiat-value.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Invoices that show the workspace's currency and usual amount. */
const NEWEST = 50
/** Fewer invoices show no usual amount. */
const USUAL_MIN = 5

/** Dependencies of showing amounts in fiat. */
export type FiatDeps = Uses<'rates' | 'catalog'>

/** Values amounts in one currency. */
export type FiatOf = ReturnType<typeof fiatOf>

/** Reads each rate once. */
export function fiatOf(deps: FiatDeps, currency: FiatCode, arsSeries: ArsSeries) {
  const known = new Map<AssetId, Promise<string | null>>()
  const priceOf = (asset: AssetId) => {
    const price =
      known.get(asset) ??
      deps.rates.rateFor({ asset, fiat: currency, arsSeries }).then(
        ({ fiatPerAsset }) => fiatPerAsset,
        (error: { readonly code?: string }) => (error.code === 'RATES_UNAVAILABLE' ? null : Promise.reject(error)),
      )
    known.set(asset, price)
    return price
  }
  async function minor(asset: AssetId, base: bigint): Promise<bigint | null> {
    const price = await priceOf(asset)
    return price === null ? null : fiatMinor(base, deps.catalog.asset(asset).decimals, price, currency)
  }
  return {
    currency,
    /** Minor units, rounded down; null without a usable rate. */
    minor,
    /** The same as a decimal string. */
    async text(asset: AssetId, base: bigint) {
      const value = await minor(asset, base)
      return value === null ? null : formatFiat(value, currency)
    },
  }
}

/** The workspace's currency, and its usual invoice in it. */
export interface UsualInvoice {
  /** Of the newest invoice; USD before the first. */
  readonly currency: FiatCode
  /** Middle amount of the newest invoices in this currency, minor units; null with fewer than five. */
  readonly medianMinor: bigint | null
}

/** Reads the newest 50 invoices in live mode, or in test mode where the wallet is of test mode. */
export async function usualInvoice(
  lookups: Pick<InvoiceLookups, 'page'>,
  { workspaceId, mode }: { readonly workspaceId: string; readonly mode: 'live' | 'test' },
): Promise<UsualInvoice> {
  const none = { search: null, status: null, createdFrom: null, createdTo: null, asset: null, source: null, flag: null }
  const { invoices } = await lookups.page({ workspaceId, mode, ...none, limit: NEWEST, beforeId: null })
  const currency = invoices[0]?.terms.fiat.currency ?? 'USD'
  const amounts = invoices
    .filter(({ terms }) => terms.fiat.currency === currency)
    .map(({ terms }) => terms.fiat.minor)
    .toSorted((left, right) => (left < right ? -1 : left > right ? 1 : 0))
  const median = amounts.length < USUAL_MIN ? null : (amounts[Math.floor((amounts.length - 1) / 2)] ?? null)
  return { currency, medianMinor: median }
}
