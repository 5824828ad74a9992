import type { AssetOption, AssetOptionsView, NoOption } from '#shared/contracts/checkout/invoice-view.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { CurrencyResource } from '#shared/contracts/http/currency-resource.ts'
import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import { ASSET_IDS, type AssetId, type Family, type FiatCode, type Mode } from '#shared/domain/enumerations.ts'
import { openPrice } from '#shared/domain/invoice/decide.ts'
import { type InvoiceTerms, isHeld, type Ms } from '#shared/domain/invoice/model.ts'
import { displayUnits } from '#shared/domain/money/display.ts'
import { formatFiat, formatUnits, leastFiatFor } from '#shared/domain/money/money.ts'

import type { AssetInfo } from '#shared/ports/chain-catalog.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { RateReader } from '#shared/ports/rates.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { confirmationWait } from '#shared/usecases/networks/confirmation-wait.ts'
import { createNetworkLag, type NetworkLagDeps } from '#shared/usecases/networks/network-lag.ts'
import { applySpread } from '#shared/usecases/rates/read-rate.ts'
import { createSingleFlight } from '#shared/usecases/requests/single-flight.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { isSearching } from '#shared/usecases/wallets/key-history.ts'
import type { QuoteOffers } from './addresses.ts'
import { baseConfirmations, priceQuote, requiredConfirmations } from './price-quote.ts'

/** A wallet that was found is cached for this long; a missing one is looked up each time. */
const WALLET_CACHE_MS = 5_000
/** Dependencies of checking whether a workspace can receive an asset now. */
export type AvailabilityDeps = NetworkLagDeps &
  Uses<'wallets' | 'catalog' | 'rates'> & {
    readonly addresses: Pick<QuoteOffers, 'canTake'>
  }

/** Why an asset cannot be quoted now: `rates_unavailable` is public as 503, the others as `NO_WALLET_FOR_ASSET`. */
type UnavailableReason =
  | 'no_wallet'
  | 'network_not_configured'
  | 'asset_not_on_network'
  | 'network_lagging'
  | 'rates_unavailable'
  | 'addresses_exhausted'

/** Checks whether a workspace can receive an asset. Quotes and the list of currencies use the same object. */
export type QuoteAvailability = ReturnType<typeof createQuoteAvailability>

type Receiver =
  | { readonly available: true; readonly material: KeyMaterial }
  | { readonly available: false; readonly reason: UnavailableReason }

/** Makes the availability check with small caches, so that quoting an asset needs no wallet read in steady state. */
export function createQuoteAvailability(deps: AvailabilityDeps) {
  const lag = createNetworkLag(deps)
  const materialOf = createMaterialLookup(deps.wallets, deps.clock)

  const receiver = async (workspaceId: string, mode: Mode, info: AssetInfo): Promise<Receiver> => {
    const hasNode = deps.catalog.hasNode(info.network, mode)
    if (!hasNode && mode === 'live') return { available: false, reason: 'network_not_configured' }
    const isMissing =
      !deps.catalog.accepts(info.id, mode) || (hasNode && (await lag.isMissing(mode, info.network, info.id)))
    if (isMissing) return { available: false, reason: 'asset_not_on_network' }
    const material = await materialOf(workspaceId, mode, info)
    if (material === null) return { available: false, reason: 'no_wallet' }
    if (hasNode && (await lag.isLagging(mode, info.network))) return { available: false, reason: 'network_lagging' }
    return { available: true, material }
  }

  return {
    /**
     * The key material of the newest enabled wallet of the asset's family and network that is in effect; wallets whose key's
     * earlier use is known come first. In test mode the built-in sandbox
     * key is used when the workspace has none, and a network without a node is still receivable. Throws
     * `NO_WALLET_FOR_ASSET` with the reason as internal text when there is none or the network lags.
     */
    async require(workspaceId: string, mode: Mode, info: AssetInfo): Promise<KeyMaterial> {
      const answer = await receiver(workspaceId, mode, info)
      if (answer.available) return answer.material
      const why = answer.reason === 'no_wallet' ? await displacedWallet(deps.wallets, workspaceId, mode, info) : ''
      throw new PaymeshError('NO_WALLET_FOR_ASSET', { internal: `${answer.reason} ${mode}:${info.id}${why}` })
    },

    /**
     * Why a quote of this asset would be refused now whatever its amount, found by the steps of a quote in their order;
     * null when it would not. A rate counts as available when the asset has one in USD: another fiat may still lack its
     * own leg.
     */
    async reason(
      workspace: Pick<Workspace, 'id' | 'policy'>,
      mode: Mode,
      info: AssetInfo,
    ): Promise<UnavailableReason | null> {
      const answer = await receiver(workspace.id, mode, info)
      if (!answer.available) return answer.reason
      if (!(await hasRate(deps.rates, workspace, info))) return 'rates_unavailable'
      return (await deps.addresses.canTake(answer.material, info.network)) ? null : 'addresses_exhausted'
    },
  }
}

/** For operators: the wallet that would receive if another workspace had not proved control of its addresses. */
async function displacedWallet(
  wallets: AvailabilityDeps['wallets'],
  workspaceId: string,
  mode: Mode,
  info: AssetInfo,
): Promise<string> {
  const lost = (await wallets.listWallets(workspaceId)).find(
    ({ displacedAt, family, networks, ...wallet }) =>
      displacedAt !== undefined && wallet.mode === mode && family === info.family && networks.includes(info.network),
  )
  return lost === undefined ? '' : `: wallet ${lost.id} was displaced by a proof of control and needs its own`
}

async function hasRate(
  rates: Pick<RateReader, 'rateFor'>,
  { policy }: Pick<Workspace, 'policy'>,
  info: AssetInfo,
): Promise<boolean> {
  try {
    await rates.rateFor({ asset: info.id, fiat: 'USD', arsSeries: policy.arsSeries })
    return true
  } catch (error) {
    if (error instanceof PaymeshError && error.code === 'RATES_UNAVAILABLE') return false
    throw error
  }
}

type MaterialLookup = (workspaceId: string, mode: Mode, info: AssetInfo) => Promise<KeyMaterial | null>

/** Finds the workspace's own material, otherwise the sandbox's in test mode; concurrent requests share their reads. */
function createMaterialLookup(wallets: AvailabilityDeps['wallets'], clock: AvailabilityDeps['clock']): MaterialLookup {
  const known = new Map<string, { readonly at: Ms; readonly material: KeyMaterial }>()
  const sandboxes = new Map<Family, KeyMaterial>()
  const walletReads = createSingleFlight<readonly Wallet[]>()
  const materialReads = createSingleFlight<KeyMaterial | null>()
  const sandboxReads = createSingleFlight<readonly KeyMaterial[]>()

  const own: MaterialLookup = async (workspaceId, mode, info) => {
    const key = `${workspaceId}:${mode}:${info.network}`
    const now = clock.now()
    const held = known.get(key)
    if (held !== undefined && now >= held.at && now - held.at < WALLET_CACHE_MS) return held.material
    const all = await walletReads(workspaceId, () => wallets.listWallets(workspaceId))
    const material = await firstReady(newestFirst(all, mode, info, now), (id) =>
      materialReads(id, () => wallets.findMaterial(id)),
    )
    if (material === null) known.delete(key)
    else known.set(key, { at: now, material })
    return material
  }

  const sandbox = async (family: Family): Promise<KeyMaterial | null> => {
    const held = sandboxes.get(family)
    if (held !== undefined) return held
    const all = await sandboxReads('all', () => wallets.listMaterials())
    const found = all.find((material) => material.sandbox && material.family === family && material.mode === 'test')
    if (found !== undefined) sandboxes.set(family, found)
    return found ?? null
  }

  return async (workspaceId, mode, info) =>
    (await own(workspaceId, mode, info)) ?? (mode === 'test' ? await sandbox(info.family) : null)
}

function newestFirst(wallets: readonly Wallet[], mode: Mode, info: AssetInfo, now: Ms): readonly Wallet[] {
  return wallets
    .filter(
      (wallet) =>
        wallet.mode === mode &&
        wallet.family === info.family &&
        wallet.disabledAt === null &&
        wallet.networks.includes(info.network) &&
        (wallet.effectiveAt ?? 0) <= now,
    )
    .sort((one, other) => other.createdAt - one.createdAt)
}

/** The first material that may be offered; otherwise the first one, of which nothing is offered yet. */
async function firstReady(
  wallets: readonly Wallet[],
  find: (id: string) => Promise<KeyMaterial | null>,
): Promise<KeyMaterial | null> {
  let first: KeyMaterial | null = null
  for (const { materialId } of wallets) {
    const material = await find(materialId)
    if (material !== null && !isSearching(material)) return material
    first ??= material
  }
  return first
}

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

/** Temporary reasons: such an asset stays in the list as paused. */
const PASSING: ReadonlySet<string> = new Set(['network_lagging', 'rates_unavailable', 'addresses_exhausted'])

/**
 * The assets that an invoice can be paid in, in the order of the specification, with the price of each, which is the open one of its coin or the current one, and how
 * long a quote lasts. Assets without a wallet, or whose bounds the invoice's amount is outside of, are left out. Null for an unknown id.
 */
export async function listAssetOptions(
  deps: ListAssetOptionsDeps,
  invoiceId: string,
): Promise<AssetOptionsView | null> {
  const invoice = await deps.invoices.findById(invoiceId)
  if (invoice === null) return null
  const { terms } = invoice
  const workspace = await deps.workspaces.findById(terms.workspaceId)
  if (workspace === null) throw new Error(`invoice ${invoiceId} belongs to no workspace`)
  const families = new Set(
    invoice.state.paymentMethods
      .filter((paymentMethod) => isHeld(paymentMethod) && paymentMethod.hold?.kind !== 'amount')
      .map(({ family }) => family),
  )
  const prices = new Map<string, string>()
  for (const { symbol } of invoice.state.paymentMethods) {
    const price = openPrice(invoice.state.paymentMethods, symbol, deps.clock.now())
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
): Promise<AssetOptionsView> {
  const found = await Promise.all(ASSET_IDS.map((id) => optionOf(deps, workspace, price, own, id)))
  const assets = found.filter((option) => 'asset' in option)
  const holdMs = workspace.policy.quoteMs
  return assets.length > 0 ? { assets, holdMs } : { assets, holdMs, none: whyNone(found, price.fiat.currency) }
}

/** An asset that is left out, and the amount of fiat, in minor units, that it would take. */
type LeftOut = { readonly least: bigint } | { readonly most: bigint } | { readonly none: true }

function whyNone(found: readonly (AssetOption | LeftOut)[], currency: FiatCode): NoOption {
  const least = found.flatMap((one) => ('least' in one ? [one.least] : [])).sort(ascending)[0]
  if (least !== undefined) return { cause: 'too_small', least: formatFiat(least, currency) }
  const most = found
    .flatMap((one) => ('most' in one ? [one.most] : []))
    .sort(ascending)
    .at(-1)
  return most === undefined ? { cause: 'no_wallet' } : { cause: 'too_large', most: formatFiat(most, currency) }
}

const ascending = (one: bigint, other: bigint): number => (one < other ? -1 : one > other ? 1 : 0)

async function optionOf(
  deps: AssetOptionsDeps,
  workspace: Workspace,
  { mode, fiat }: Pick<InvoiceTerms, 'mode' | 'fiat'>,
  own: OwnChoices,
  id: AssetId,
): Promise<AssetOption | LeftOut> {
  const info = deps.catalog.asset(id)
  const found = await deps.availability.reason(workspace, mode, info)
  // The invoice's existing address serves this asset as well.
  const reason = found === 'addresses_exhausted' && own.families.has(info.family) ? null : found
  if (reason !== null && !PASSING.has(reason)) return { none: true }
  const priced = await priceOrNull(deps, workspace, { fiat, own }, info)
  if (priced !== null) {
    const terms = { ...info, currency: fiat.currency, fiatPerAsset: priced.fiatPerAsset }
    if (priced.amountBase < info.minBase) return { least: leastFiatFor(info.minBase, terms) }
    if (priced.amountBase > info.maxBase) return { most: leastFiatFor(info.maxBase + 1n, terms) - 1n }
  }
  const worth = priced === null ? null : { fiat, fiatPerUsd: priced.fiatPerUsd }
  const required = requiredConfirmations(deps.catalog, { policy: workspace.policy, asset: id, mode }, worth)
  return {
    asset: id,
    symbol: info.symbol,
    name: info.name,
    network: info.network,
    estimate: priced === null ? null : displayUnits(priced.amountBase, info),
    confirmMs: confirmationWait(deps.catalog, { network: info.network, mode }, required),
    isAvailable: reason === null && priced !== null,
  }
}

async function priceOrNull(
  deps: AssetOptionsDeps,
  { policy }: Pick<Workspace, 'policy'>,
  { fiat, own }: { readonly fiat: InvoiceTerms['fiat']; readonly own: OwnChoices },
  info: AssetInfo,
): Promise<{ readonly amountBase: bigint; readonly fiatPerAsset: string; readonly fiatPerUsd: string } | null> {
  try {
    const rate = await deps.rates.rateFor({ asset: info.id, fiat: fiat.currency, arsSeries: policy.arsSeries })
    const fiatPerAsset = own.prices.get(info.symbol) ?? applySpread(rate.fiatPerAsset, policy.spreadBps)
    const { amountBase } = priceQuote(fiat, info, fiatPerAsset)
    return { amountBase, fiatPerAsset, fiatPerUsd: rate.fiatPerUsd }
  } catch (error) {
    if (error instanceof PaymeshError && error.code === 'RATES_UNAVAILABLE') return null
    throw error
  }
}

/** Dependencies of listing the currencies. */
type ListCurrenciesDeps = Uses<'catalog' | 'clock'> & {
  readonly availability: Pick<QuoteAvailability, 'reason'>
}

/** The workspace and mode of the list. */
interface CurrencyScope {
  readonly workspace: Pick<Workspace, 'id' | 'policy' | 'createdAt'>
  readonly mode: Mode
}

/**
 * Every asset in the order of the specification. Availability is checked with the same code as a quote, so a create at
 * the same moment gives the same result, apart from its amount and from fiats without a direct price.
 */
export async function listCurrencies(
  deps: ListCurrenciesDeps,
  scope: CurrencyScope,
): Promise<readonly CurrencyResource[]> {
  return Promise.all(ASSET_IDS.map((id) => currencyOf(deps, scope, id)))
}

async function currencyOf(
  { catalog, availability, clock }: ListCurrenciesDeps,
  { workspace, mode }: CurrencyScope,
  id: AssetId,
): Promise<CurrencyResource> {
  const info = catalog.asset(id)
  const reason = await availability.reason(workspace, mode, info)
  return {
    id,
    object: 'currency',
    livemode: mode === 'live',
    symbol: info.symbol,
    network: info.network,
    name: info.name,
    decimals: info.decimals,
    contract_address: catalog.accepts(id, mode) ? catalog.contract(id, mode) : null,
    min_amount: formatUnits(info.minBase, info.decimals),
    confirmations: baseConfirmations(catalog, { policy: workspace.policy, asset: id, mode }),
    available: reason === null,
    unavailable_reason: reason,
    watched: catalog.hasNode(info.network, mode),
    // The list is created with its workspace and checked again with each request.
    created_at: new Date(workspace.createdAt).toISOString(),
    updated_at: new Date(clock.now()).toISOString(),
  }
}
