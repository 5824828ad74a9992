import { PaymeshError } from '#shared/contracts/errors.ts'
import { RatesUnavailable } from '#shared/contracts/rates/rates-unavailable.ts'
import { ASSET_IDS, type AssetId, type FiatCode, type Mode } from '#shared/domain/enumerations.ts'
import type { OpenPrice } from '#shared/domain/invoice/decide.ts'
import {
  isHeld,
  type Ms,
  type PaymentMethod,
  type Quote,
  type QuoteHold,
  type QuotePolicy,
} from '#shared/domain/invoice/model.ts'
import { heldFor, quarantineFor } from '#shared/domain/invoice/quote-window.ts'
import { displayUnit, formatUnits } from '#shared/domain/money/money.ts'

import type { RequestedConfirmations } from '#shared/domain/payment/confirmation-tiers.ts'
import type { AssetInfo } from '#shared/ports/chain-catalog.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { AssetRate } from '#shared/ports/rates.ts'
import type { Workspace, WorkspacePolicy } from '#shared/ports/workspaces.ts'
import { applySpread } from '#shared/usecases/rates/read-rate.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { QuoteOffer, QuoteOffers } from './addresses.ts'
import type { QuoteAvailability } from './availability.ts'
import { priceQuote, requiredConfirmations } from './price-quote.ts'
import { NO_PLACES, type Visitor, type VisitorBudget, type VisitorPlaces } from './visitor-budget.ts'

const BPS = 10_000n

/** Dependencies of setting an address and an amount. */
export type QuotePreparerDeps = Uses<'catalog' | 'rates'> & {
  readonly availability: QuoteAvailability
  readonly addresses: Pick<QuoteOffers, 'take' | 'reuse'>
  /** Needed where visitors choose assets. */
  readonly budget?: VisitorBudget
}

/** A request to receive one asset for one fiat amount. */
export interface QuoteRequest {
  readonly workspace: Pick<Workspace, 'id' | 'policy'>
  readonly mode: Mode
  readonly asset: AssetId
  readonly fiat: { readonly minor: bigint; readonly currency: FiatCode }
  readonly at: Ms
  /** End of the quote. */
  readonly quoteEndsAt: Ms
  /** The open price of the coin on another network of the invoice, which applies here as well; absent for a price of now. */
  readonly price?: OpenPrice
  /** Payment methods of the invoice: an address that it already has is reused. */
  readonly held?: readonly PaymentMethod[]
  /** The visitor whose budget an additional address or amount, or another network that watches, counts against; absent for the merchant. */
  readonly visitor?: Visitor
  /** False where the merchant set how long the invoice waits for money: what it is watched for, however long, is no visitor's doing. */
  readonly endsWithQuote?: boolean
}

/** A complete payment method with a candidate address; the invoice write that carries `payment method.claim` reserves it. */
export interface PreparedPaymentMethod {
  readonly paymentMethod: PaymentMethod
  /** The same quote on the next candidate address, if the claim was taken. */
  next(): Promise<PreparedPaymentMethod>
  /** The same quote with other places in the visitors' budget, if one of those was taken. */
  redraw(): Promise<PreparedPaymentMethod>
  /** To be called once its write is over, or will not be made; those that `next` and `redraw` replace are ended by them. */
  end(): void
}

/** Sets amount, bounds and candidate address of a quote. */
export type QuotePreparer = ReturnType<typeof createQuotePreparer>

/** Makes the preparer that create, checkout and simulation share. */
export function createQuotePreparer(deps: QuotePreparerDeps) {
  return {
    /**
     * Prices the request at the open price of its coin, otherwise at the current rate with the workspace's spread, and freezes the bounds for checking payments.
     * Throws `NO_WALLET_FOR_ASSET` (`VisitorBudgetSpent` for a visitor), `RATES_UNAVAILABLE`, `AMOUNT_BELOW_MINIMUM` or `VALIDATION_ERROR`; an
     * address is only taken after everything else has passed.
     */
    async prepare(request: QuoteRequest): Promise<PreparedPaymentMethod> {
      const info = deps.catalog.asset(request.asset)
      const { id, policy } = request.workspace
      const material = await deps.availability.require(id, request.mode, info)
      const arsSeries = policy.arsSeries
      const rate = await deps.rates
        .rateFor({ asset: info.id, fiat: request.fiat.currency, arsSeries })
        .catch(async (error: unknown) => Promise.reject(await advised(deps, request, error)))
      const priced = priceRequestedQuote(request, info, rate)
      if (priced.amountBase < info.minBase) throw outOfBounds('AMOUNT_BELOW_MINIMUM', 'minimum', info, info.minBase)
      const worth = { fiat: request.fiat, fiatPerUsd: rate.fiatPerUsd }
      const subject = { policy, asset: info.id, mode: request.mode }
      const required = requiredConfirmations(deps.catalog, subject, worth)
      const reused = await deps.addresses.reuse(material, info, priced.amountBase, {
        workspaceId: id,
        held: request.held ?? [],
      })
      const parts = { request, info, material, priced, required }
      return reused === null
        ? await withNextAddress(deps, parts)
        : preparedOn(deps, parts, reused, await drawsFor(deps, parts, false))
    },
  }
}

/** Tells the merchant whose asset has no price whether an invoice without one could be paid: only where the workspace can receive another asset that has a price. */
async function advised(deps: QuotePreparerDeps, request: QuoteRequest, error: unknown): Promise<unknown> {
  const isOfCoin = error instanceof RatesUnavailable && !error.isOfEveryCoin
  if (!isOfCoin || request.visitor !== undefined) return error
  const { workspace, mode, fiat } = request
  for (const asset of ASSET_IDS) {
    const rate = { asset, fiat: fiat.currency, arsSeries: workspace.policy.arsSeries }
    const isPriced = await deps.rates.rateFor(rate).then(
      () => true,
      () => false,
    )
    if (isPriced && (await deps.availability.reason(workspace, mode, deps.catalog.asset(asset))) === null)
      return new RatesUnavailable(error.missing, { advice: OTHERS_PRICED, internal: error.internal ?? '' })
  }
  return error
}

const OTHERS_PRICED = ' Other assets have a price: without `asset`, the payer can choose one of them.'

/**
 * The quote for a first choice or a renewal: at the open price that the request names, otherwise made now, including the workspace's spread.
 * Throws `VALIDATION_ERROR` with path `amount` for a price that no transfer of the asset can carry.
 */
export function priceRequestedQuote({ price, ...request }: QuoteRequest, info: AssetInfo, rate: AssetRate): Quote {
  const { fiat, at: quotedAt, quoteEndsAt: expiresAt } = request
  const { spreadBps, arsSeries } = request.workspace.policy
  const { snapshotAt, sources, fxSources } = rate
  const series = fiat.currency === 'ARS' ? { arsSeries } : {}
  const { fiatPerAsset, ...frozen } = price ?? {
    fiatPerAsset: applySpread(rate.fiatPerAsset, spreadBps),
    quotedAt,
    expiresAt,
    provenance: { snapshotAt, sources, fxSources, spreadBps, ...series },
  }
  const priced = priceQuote(fiat, info, fiatPerAsset)
  if (priced.amountBase > info.maxBase) throw outOfBounds('VALIDATION_ERROR', 'maximum', info, info.maxBase)
  return { ...frozen, ...priced }
}

function outOfBounds(
  code: 'AMOUNT_BELOW_MINIMUM' | 'VALIDATION_ERROR',
  bound: 'minimum' | 'maximum',
  { id, decimals, symbol }: AssetInfo,
  base: bigint,
): PaymeshError {
  const message = `The ${bound} for ${id} is ${formatUnits(base, decimals)} ${symbol}.`
  return new PaymeshError(code, { details: [{ path: 'amount', message }] })
}

/** Input for a payment method. */
interface Parts {
  readonly request: QuoteRequest
  readonly info: AssetInfo
  readonly material: KeyMaterial
  readonly priced: Quote
  /** Confirmations required for the invoice's value. */
  readonly required: RequestedConfirmations
}

/**
 * An address or amount together with the visitor's places for it. Where no candidate is left although the visitor had places, they are drawn
 * again: writes of other visitors may have used up the budget since, and then that is what the visitor has to wait for.
 */
export async function takeWithin<T>(
  draw: () => Promise<VisitorPlaces>,
  take: () => Promise<T>,
): Promise<{ readonly taken: T; readonly places: VisitorPlaces }> {
  const places = await draw()
  try {
    return { taken: await take(), places }
  } catch (error) {
    places.end()
    if (error instanceof PaymeshError && error.code === 'NO_WALLET_FOR_ASSET') (await draw()).end()
    throw error
  }
}

async function withNextAddress(deps: QuotePreparerDeps, parts: Parts): Promise<PreparedPaymentMethod> {
  const { material, info, priced, request } = parts
  // Places come first: a visitor who has to wait must not block an address for a minute.
  const { taken, places } = await takeWithin(
    () => drawsFor(deps, parts, true),
    () => deps.addresses.take(material, info, priced.amountBase, request.workspace.id),
  )
  return preparedOn(deps, parts, taken, places)
}

function preparedOn(
  deps: QuotePreparerDeps,
  parts: Parts,
  candidate: QuoteOffer,
  places: VisitorPlaces,
): PreparedPaymentMethod {
  return {
    paymentMethod: methodOn(parts, candidate, places),
    next: () => {
      places.end()
      return withNextAddress(deps, parts)
    },
    redraw: async () => {
      places.end()
      return preparedOn(deps, parts, candidate, await drawsFor(deps, parts, places.claim.length > 0))
    },
    end: places.end,
  }
}

/** The network watches for the invoice already where it has another coin of it. */
async function drawsFor(
  { budget }: QuotePreparerDeps,
  { request: { workspace, visitor, held = [], endsWithQuote = true }, material, info }: Parts,
  claims: boolean,
): Promise<VisitorPlaces> {
  if (visitor === undefined) return NO_PLACES
  if (budget === undefined) throw new Error('a visitor chose an asset where no budget counts them')
  const isWatched = held.some((other) => isHeld(other) && other.network === info.network)
  const network = isWatched || !endsWithQuote ? null : info.network
  return await budget.draw({ material, workspace, visitor, claims, network })
}

function methodOn(
  { request, info, priced, required }: Parts,
  candidate: QuoteOffer,
  { claim: draws, watch: watchPlaces }: VisitorPlaces,
): PaymentMethod {
  const { held = [] } = request
  const { address, matchKey, claim, amountBase, hold, priorHold } = candidate
  // A payment method keeps its reference: payment links of its earlier quotes name it.
  const earlier = held.findLast(
    (paymentMethod) => paymentMethod.asset === info.id && paymentMethod.matchKey === matchKey,
  )
  const reference = earlier?.reference ?? candidate.reference
  const amount = formatUnits(amountBase, info.decimals)
  const named = reference === null ? {} : { reference }
  const { policy } = request.workspace
  return {
    asset: info.id,
    network: info.network,
    family: info.family,
    symbol: info.symbol,
    decimals: info.decimals,
    address,
    matchKey,
    claim,
    ...(hold !== null && { hold: holdOf(policy, hold) }),
    ...(priorHold !== null && { priorHold }),
    ...(draws.length > 0 && { draws }),
    ...(watchPlaces.length > 0 && { watchPlaces }),
    ...named,
    requiredConfirmations: required.confirmations,
    ...(required.finality && { needsFinality: true }),
    policy: frozenBounds(policy, info, amountBase, hold),
    quotes: [{ ...priced, amountBase, amount }],
    from: request.at,
    to: null,
  }
}

/** At least a day, whatever the policy says: the slowest transfers take hours. */
function holdOf(policy: WorkspacePolicy, kind: QuoteHold['kind']): QuoteHold {
  return {
    kind,
    quarantineMs: quarantineFor(policy.quarantineMs),
    heldMs: heldFor(policy.lateGraceMs),
    releasedAt: null,
  }
}

/** Bounds in base units of this amount, so that a later policy change never affects the invoice. */
export function frozenBounds(
  policy: WorkspacePolicy,
  info: AssetInfo,
  dueBase: bigint,
  hold: QuoteOffer['hold'],
): QuotePolicy {
  const thousandth = dueBase / 1_000n
  // An amount that identifies the invoice must be met exactly.
  const toleranceBase = hold === 'amount' ? 0n : (dueBase * BigInt(policy.toleranceBps)) / BPS
  const unsendableBase = unsendable(info, dueBase)
  return {
    toleranceBase: toleranceBase > unsendableBase ? toleranceBase : unsendableBase,
    unitBase: displayUnit(info),
    sendableBase: info.dustBase,
    lateGraceMs: policy.lateGraceMs,
    lateDriftBps: policy.lateDriftBps,
    depositBps: policy.depositBps,
    dustBase: thousandth > info.dustBase ? thousandth : info.dustBase,
  }
}

/** The largest rest that nobody can send, or that costs more to move than it is worth; of a tiny invoice a twentieth, so that it is no discount. */
function unsendable({ dustBase }: AssetInfo, dueBase: bigint): bigint {
  const twentieth = dueBase / 20n
  return dustBase - 1n < twentieth ? dustBase - 1n : twentieth
}
