import type { CurrencyResource } from '#shared/contracts/http/currency-resource.ts'
import { ASSET_IDS, type AssetId, type Mode } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { LockAvailability } from './lock-availability.ts'
import { baseConfirmations } from './required-confirmations.ts'

/** What listing the currencies needs. */
export interface ListCurrenciesDeps {
  readonly catalog: Pick<Catalog, 'asset' | 'contract' | 'confirmations' | 'knowsFinality' | 'hasNode'>
  readonly availability: Pick<LockAvailability, 'reason'>
  readonly clock: Clock
}

/** In whose name the currencies are listed. */
export interface CurrencyScope {
  readonly workspace: Pick<Workspace, 'id' | 'policy' | 'createdAt'>
  readonly mode: Mode
}

/**
 * Every asset in the order of the specification. Whether it is available is judged by what a lock asks, so a create at
 * the same moment gives the same answer, apart from its amount and from fiats without a price of their own.
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
    contract_address: catalog.contract(id, mode),
    min_amount: formatUnits(info.minBase, info.decimals),
    confirmations: baseConfirmations(catalog, { policy: workspace.policy, asset: id, mode }),
    available: reason === null,
    unavailable_reason: reason,
    watched: catalog.hasNode(info.network, mode),
    // The list begins with its workspace and is judged anew with each question.
    created_at: new Date(workspace.createdAt).toISOString(),
    updated_at: new Date(clock.now()).toISOString(),
  }
}
