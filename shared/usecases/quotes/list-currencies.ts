import type { CurrencyResource } from '#shared/contracts/http/currency-resource.ts'
import { ASSET_IDS, type AssetId, type Mode } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { QuoteAvailability } from './quote-availability.ts'
import { baseConfirmations } from './required-confirmations.ts'

/** Dependencies of listing the currencies. */
export type ListCurrenciesDeps = Uses<'catalog' | 'clock'> & {
  readonly availability: Pick<QuoteAvailability, 'reason'>
}

/** The workspace and mode of the list. */
export interface CurrencyScope {
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
