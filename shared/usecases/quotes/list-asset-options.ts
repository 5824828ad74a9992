import type { AssetOption } from '#shared/contracts/checkout/invoice-view.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { ASSET_IDS, type AssetId, type Family } from '#shared/domain/enumerations.ts'
import { openPrice } from '#shared/domain/invoice/decide-quote.ts'
import { type InvoiceTerms, isHeld } from '#shared/domain/invoice/model.ts'
import { displayUnits } from '#shared/domain/money/display.ts'
import type { AssetInfo } from '#shared/ports/chain-catalog.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { confirmationWait } from '#shared/usecases/networks/confirmation-wait.ts'
import { applySpread } from '#shared/usecases/rates/read-rate.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { priceQuote } from './price-quote.ts'
import type { QuoteAvailability } from './quote-availability.ts'
import { requiredConfirmations } from './required-confirmations.ts'

/** Dependencies of listing the assets that a payer may choose. */
export type ListAssetOptionsDeps = AssetOptionsDeps & Uses<'invoices' | 'workspaces' | 'clock'>

/** What an invoice already has of the options that it is shown. */
interface OwnChoices {
  /** Families whose address serves further assets. */
  readonly families: ReadonlySet<Family>
  /** Fiat per coin, by symbol, where a price is open. */
  readonly prices: ReadonlyMap<string, string>
}

const NOTHING_CHOSEN: OwnChoices = { families: new Set(), prices: new Map() }

/** What the options of a price depend on. */
export type AssetOptionsDeps = Uses<'rates' | 'catalog'> & {
  readonly availability: Pick<QuoteAvailability, 'reason'>
}

/** Assets to choose from, and how long a quote lasts, milliseconds. */
export interface AssetOptions {
  readonly assets: readonly AssetOption[]
  readonly holdMs: number
}

/** Temporary reasons: such an asset stays in the list as paused. */
const PASSING: ReadonlySet<string> = new Set(['network_lagging', 'rates_unavailable', 'addresses_exhausted'])

/**
 * The assets that an invoice can be paid in, in the order of the specification, with the price of each, which is the open one of its coin or the current one, and how
 * long a quote lasts. Assets without a wallet, or whose minimum the invoice does not reach, are left out. Null for an unknown id.
 */
export async function listAssetOptions(deps: ListAssetOptionsDeps, invoiceId: string): Promise<AssetOptions | null> {
  const invoice = await deps.invoices.findById(invoiceId)
  if (invoice === null) return null
  const { terms } = invoice
  const workspace = await deps.workspaces.findById(terms.workspaceId)
  if (workspace === null) throw new Error(`invoice ${invoiceId} belongs to no workspace`)
  const families = new Set(
    invoice.state.locks.filter((lock) => isHeld(lock) && lock.hold?.kind !== 'amount').map(({ family }) => family),
  )
  const prices = new Map<string, string>()
  for (const { symbol } of invoice.state.locks) {
    const price = openPrice(invoice.state.locks, symbol, deps.clock.now())
    if (price !== null) prices.set(symbol, price.fiatPerAsset)
  }
  return await assetOptions(deps, workspace, terms, { families, prices })
}

/** The same for a price that has no invoice yet, or for an invoice that has `own` addresses and prices. */
export async function assetOptions(
  deps: AssetOptionsDeps,
  workspace: Workspace,
  price: Pick<InvoiceTerms, 'mode' | 'fiat'>,
  own: OwnChoices = NOTHING_CHOSEN,
): Promise<AssetOptions> {
  const options = await Promise.all(ASSET_IDS.map((id) => optionOf(deps, workspace, price, own, id)))
  return { assets: options.filter((option) => option !== null), holdMs: workspace.policy.quoteMs }
}

async function optionOf(
  deps: AssetOptionsDeps,
  workspace: Workspace,
  { mode, fiat }: Pick<InvoiceTerms, 'mode' | 'fiat'>,
  own: OwnChoices,
  id: AssetId,
): Promise<AssetOption | null> {
  const info = deps.catalog.asset(id)
  const found = await deps.availability.reason(workspace, mode, info)
  // The invoice's existing address serves this asset as well.
  const reason = found === 'addresses_exhausted' && own.families.has(info.family) ? null : found
  if (reason !== null && !PASSING.has(reason)) return null
  const priced = await priceOrNull(deps, workspace, { fiat, own }, info)
  if (priced !== null && priced.amountBase < info.minBase) return null
  const worth = priced === null ? null : { fiat, fiatPerUsd: priced.fiatPerUsd }
  const asked = requiredConfirmations(deps.catalog, { policy: workspace.policy, asset: id, mode }, worth)
  return {
    asset: id,
    symbol: info.symbol,
    name: info.name,
    network: info.network,
    estimate: priced === null ? null : displayUnits(priced.amountBase, info),
    confirmMs: confirmationWait(deps.catalog, info.network, asked),
    isAvailable: reason === null && priced !== null,
  }
}

async function priceOrNull(
  deps: AssetOptionsDeps,
  { policy }: Pick<Workspace, 'policy'>,
  { fiat, own }: { readonly fiat: InvoiceTerms['fiat']; readonly own: OwnChoices },
  info: AssetInfo,
): Promise<{ readonly amountBase: bigint; readonly fiatPerUsd: string } | null> {
  try {
    const rate = await deps.rates.rateFor({ asset: info.id, fiat: fiat.currency, arsSeries: policy.arsSeries })
    const fiatPerAsset = own.prices.get(info.symbol) ?? applySpread(rate.fiatPerAsset, policy.spreadBps)
    return { amountBase: priceQuote(fiat, info, fiatPerAsset).amountBase, fiatPerUsd: rate.fiatPerUsd }
  } catch (error) {
    if (error instanceof PaymeshError && error.code === 'RATES_UNAVAILABLE') return null
    throw error
  }
}
