import type { GivenConfirmations } from '#shared/contracts/confirmation-text.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { CONFIRMATIONS_MAX, tiersFault } from '#shared/contracts/tiers-fault.ts'
import { ASSET_IDS, type AssetId, type FiatCode, type Mode } from '#shared/domain/enumerations.ts'
import { formatUnits, quoteAmountBase } from '#shared/domain/money/money.ts'

import { NETWORKS } from '#shared/domain/networks.ts'
import {
  type ConfirmationTier,
  type InvoiceWorth,
  type RequestedConfirmations,
  requestedConfirmations,
} from '#shared/domain/payment/confirmation-tiers.ts'
import type { AssetInfo, Catalog } from '#shared/ports/chain-catalog.ts'
import type { WorkspacePolicy } from '#shared/ports/workspaces.ts'

/** The price in an asset for a fiat amount. */
interface PricedAmount {
  /** Fiat per one asset unit with every digit used, spread included: dividing by it and rounding up gives `amountBase`. */
  readonly fiatPerAsset: string
  readonly amountBase: bigint
  /** The same amount as decimal text. */
  readonly amount: string
}

/** The price of an amount at a rate that already includes the spread, rounded up to the asset's display precision. Quotes and estimates share it. */
export function priceQuote(
  fiat: { readonly minor: bigint; readonly currency: FiatCode },
  info: AssetInfo,
  fiatPerAsset: string,
): PricedAmount {
  const amountBase = quoteAmountBase({
    fiatMinor: fiat.minor,
    currency: fiat.currency,
    fiatPerAsset,
    decimals: info.decimals,
    displayDecimals: info.displayDecimals,
  })
  return { fiatPerAsset, amountBase, amount: formatUnits(amountBase, info.decimals) }
}

/** Catalog functions for reading the policy. */
type PolicyCatalog = Pick<Catalog, 'asset' | 'confirmations' | 'confirmationTiers' | 'knowsFinality'>

/** The policy, asset and mode in question. */
interface ConfirmationSubject {
  readonly policy: Pick<WorkspacePolicy, 'confirmations'>
  readonly asset: AssetId
  readonly mode: Mode
}

/**
 * The confirmations that a quote made now requires on an invoice of this value: the workspace's own figure or table for the asset, otherwise the
 * network's table in this mode. An unknown value gets the strictest tier. A stored figure that no payment could
 * ever meet, or that any payment meets at once, is ignored.
 */
export function requiredConfirmations(
  catalog: PolicyCatalog,
  { policy, asset, mode }: ConfirmationSubject,
  worth: InvoiceWorth | null,
): RequestedConfirmations {
  const tiers = ownTiers(catalog, policy, asset) ?? catalog.confirmationTiers(asset, mode)
  return requestedConfirmations(tiers, worth, catalog.confirmations(asset, mode))
}

/** The single count that an asset is listed with: the workspace's own, of its lowest tier, otherwise the network's base figure. */
export function baseConfirmations(
  catalog: Pick<Catalog, 'asset' | 'confirmations' | 'knowsFinality'>,
  { policy, asset, mode }: ConfirmationSubject,
): number {
  const own = ownTiers(catalog, policy, asset)
  const base = catalog.confirmations(asset, mode)
  return own === null ? base : requestedConfirmations(own.slice(0, 1), null, base).confirmations
}

function ownTiers(
  catalog: Pick<Catalog, 'asset' | 'knowsFinality'>,
  policy: Pick<WorkspacePolicy, 'confirmations'>,
  asset: AssetId,
): readonly ConfirmationTier[] | null {
  const own = policy.confirmations[asset]
  if (own === undefined || faultOf(catalog, asset, own) !== null) return null
  return typeof own === 'number' || own === 'finalized' ? [{ fromUsd: 0, confirmations: own }] : own
}

/** Returns valid confirmations by asset id; throws `VALIDATION_ERROR` that names each invalid one, and why. */
export function checkedConfirmations(
  catalog: Pick<Catalog, 'asset' | 'knowsFinality'>,
  confirmations: WorkspacePolicy['confirmations'],
): WorkspacePolicy['confirmations'] {
  const faults = Object.entries(confirmations).flatMap(([asset, value]) => {
    const message = faultOf(catalog, asset, value)
    return message === null ? [] : [{ path: `policy.confirmations.${asset}`, message }]
  })
  if (faults.length === 0) return Object.fromEntries(Object.entries(confirmations).map(copied))
  throw new PaymeshError('VALIDATION_ERROR', { details: faults })
}

/** Only the known fields of a tier are stored. */
function copied([asset, given]: [string, GivenConfirmations]): [string, GivenConfirmations] {
  if (typeof given === 'number' || given === 'finalized') return [asset, given]
  return [asset, given.map(({ fromUsd, confirmations }) => ({ fromUsd, confirmations }))]
}

/** Why this requirement is invalid; null when it is valid. Stored values may have any shape. */
function faultOf(catalog: Pick<Catalog, 'asset' | 'knowsFinality'>, asset: string, value: unknown): string | null {
  const id = ASSET_IDS.find((known) => known === asset)
  if (id === undefined) return 'Asset not found.'
  const { network } = catalog.asset(id)
  if (Array.isArray(value)) return tiersFault(value, catalog.knowsFinality(network))
  if (value === 'finalized') {
    return catalog.knowsFinality(network)
      ? null
      : `${NETWORKS[network].name} has no final blocks, so payments would never confirm. Enter a number of confirmations.`
  }
  const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= CONFIRMATIONS_MAX
  return isCount ? null : `Must be a whole number from 1 to ${CONFIRMATIONS_MAX}, "finalized", or tiers by value.`
}
