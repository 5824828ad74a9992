import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import type { Family, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AssetInfo } from '#shared/ports/chain-catalog.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { RateReader } from '#shared/ports/rates.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { createNetworkLag, type NetworkLagDeps } from '#shared/usecases/networks/network-lag.ts'
import { createSingleFlight } from '#shared/usecases/requests/single-flight.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { isSearching } from '#shared/usecases/wallets/key-history.ts'
import type { QuoteOffers } from './quote-offers.ts'

/** A wallet that was found is cached for this long; a missing one is looked up each time. */
const WALLET_CACHE_MS = 5_000
/** Dependencies of checking whether a workspace can receive an asset now. */
export type AvailabilityDeps = NetworkLagDeps &
  Uses<'wallets' | 'catalog' | 'rates'> & {
    readonly addresses: Pick<QuoteOffers, 'canTake'>
  }

/** Why an asset cannot be quoted now: `rates_unavailable` is public as 503, the others as `NO_WALLET_FOR_ASSET`. */
export type UnavailableReason =
  | 'no_wallet'
  | 'network_not_configured'
  | 'asset_not_on_network'
  | 'network_lagging'
  | 'rates_unavailable'
  | 'addresses_exhausted'

/** Checks whether a workspace can receive an asset. Quotes and the list of currencies use the same object. */
export interface QuoteAvailability {
  /**
   * The key material of the newest enabled wallet of the asset's family and network that is in effect; wallets whose key's
   * earlier use is known come first. In test mode the built-in sandbox
   * key is used when the workspace has none, and a network without a node is still receivable. Throws
   * `NO_WALLET_FOR_ASSET` with the reason as internal text when there is none or the network lags.
   */
  require(workspaceId: string, mode: Mode, info: AssetInfo): Promise<KeyMaterial>
  /**
   * Why a quote of this asset would be refused now whatever its amount, found by the steps of a quote in their order;
   * null when it would not. A rate counts as available when the asset has one in USD: another fiat may still lack its
   * own leg.
   */
  reason(workspace: Pick<Workspace, 'id' | 'policy'>, mode: Mode, info: AssetInfo): Promise<UnavailableReason | null>
}

type Receiver =
  | { readonly available: true; readonly material: KeyMaterial }
  | { readonly available: false; readonly reason: UnavailableReason }

/** Makes the availability check with small caches, so that quoting an asset needs no wallet read in steady state. */
export function createQuoteAvailability(deps: AvailabilityDeps): QuoteAvailability {
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
    async require(workspaceId, mode, info) {
      const answer = await receiver(workspaceId, mode, info)
      if (answer.available) return answer.material
      const why = answer.reason === 'no_wallet' ? await displacedWallet(deps.wallets, workspaceId, mode, info) : ''
      throw new PaymeshError('NO_WALLET_FOR_ASSET', { internal: `${answer.reason} ${mode}:${info.id}${why}` })
    },
    async reason(workspace, mode, info) {
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
  return lost === undefined ? '' : `: wallet ${lost.id} was displaced by a proof of control and needs one of its own`
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
