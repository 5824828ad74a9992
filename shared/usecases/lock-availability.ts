import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AssetInfo, Catalog } from './ports/catalog.ts'
import type { Clock } from './ports/runtime.ts'
import type { ChainCursor, CursorRepository } from './ports/scanning.ts'
import type { KeyMaterial, Wallet, WalletRepository } from './ports/wallets.ts'

/** A wallet that was found may serve this long without being read again; a missing one is looked up each time. */
const WALLET_CACHE_MS = 5_000
/** A cursor's health is read at most this often per network. */
const CURSOR_CACHE_MS = 2_000
/** A network whose node gave no head for this long takes no new invoices. */
const LAGGING_MS = 10 * 60_000
/** The same for a scanner that stopped itself. */
const HALTED_LAGGING_MS = 60_000

/** What the question "can this workspace receive the asset now?" needs. */
export interface AvailabilityDeps {
  readonly wallets: Pick<WalletRepository, 'listWallets' | 'findMaterial' | 'listMaterials'>
  readonly cursors: Pick<CursorRepository, 'find'>
  readonly catalog: Pick<Catalog, 'asset' | 'hasNode'>
  readonly clock: Clock
}

/** Why an asset cannot be locked now; the public code is `NO_WALLET_FOR_ASSET` for all of them. */
export type UnavailableReason = 'no_wallet' | 'network_not_configured' | 'network_lagging'

/** The key material that receives, or why nothing does. */
export type Availability =
  | { readonly available: true; readonly material: KeyMaterial }
  | { readonly available: false; readonly reason: UnavailableReason }

/** Answers which key material of a workspace receives an asset. */
export interface LockAvailability {
  /**
   * Finds the newest enabled wallet of the asset's family and network. In test mode the built-in sandbox key
   * stands in when the workspace has none, and a network without a node is still receivable.
   */
  check(workspaceId: string, mode: Mode, info: AssetInfo): Promise<Availability>
  /** Like `check`, but throws `NO_WALLET_FOR_ASSET` with the reason as internal text. */
  require(workspaceId: string, mode: Mode, info: AssetInfo): Promise<KeyMaterial>
}

/** Makes the availability check with small caches, so that locking an asset costs no wallet read in steady state. */
export function createLockAvailability(deps: AvailabilityDeps): LockAvailability {
  const wallets = new Map<string, { readonly at: Ms; readonly material: KeyMaterial }>()
  const sandboxes = new Map<Family, KeyMaterial>()
  const cursors = new Map<string, { readonly at: Ms; readonly lagging: boolean }>()

  const ownMaterial = async (workspaceId: string, mode: Mode, info: AssetInfo): Promise<KeyMaterial | null> => {
    const key = `${workspaceId}:${mode}:${info.network}`
    const now = deps.clock.now()
    const known = wallets.get(key)
    if (known !== undefined && now - known.at < WALLET_CACHE_MS) return known.material
    const wallet = newestFor(await deps.wallets.listWallets(workspaceId), mode, info)
    const material = wallet === null ? null : await deps.wallets.findMaterial(wallet.materialId)
    if (material === null) wallets.delete(key)
    else wallets.set(key, { at: now, material })
    return material
  }

  const sandbox = async (family: Family): Promise<KeyMaterial | null> => {
    const known = sandboxes.get(family)
    if (known !== undefined) return known
    const all = await deps.wallets.listMaterials()
    const found = all.find((material) => material.sandbox && material.family === family && material.mode === 'test')
    if (found !== undefined) sandboxes.set(family, found)
    return found ?? null
  }

  const lagging = async (mode: Mode, network: NetworkId): Promise<boolean> => {
    const key = `${mode}:${network}`
    const now = deps.clock.now()
    const known = cursors.get(key)
    if (known !== undefined && now - known.at < CURSOR_CACHE_MS) return known.lagging
    const answer = isLagging(await deps.cursors.find(mode, network), now)
    cursors.set(key, { at: now, lagging: answer })
    return answer
  }

  const check = async (workspaceId: string, mode: Mode, info: AssetInfo): Promise<Availability> => {
    const hasNode = deps.catalog.hasNode(info.network, mode)
    if (!hasNode && mode === 'live') return { available: false, reason: 'network_not_configured' }
    const material =
      (await ownMaterial(workspaceId, mode, info)) ?? (mode === 'test' ? await sandbox(info.family) : null)
    if (material === null) return { available: false, reason: 'no_wallet' }
    if (hasNode && (await lagging(mode, info.network))) return { available: false, reason: 'network_lagging' }
    return { available: true, material }
  }

  return {
    check,
    async require(workspaceId, mode, info) {
      const answer = await check(workspaceId, mode, info)
      if (answer.available) return answer.material
      throw new PaymeshError('NO_WALLET_FOR_ASSET', { internal: `${answer.reason} ${mode}:${info.id}` })
    },
  }
}

function newestFor(wallets: readonly Wallet[], mode: Mode, info: AssetInfo): Wallet | null {
  let newest: Wallet | null = null
  for (const wallet of wallets) {
    if (wallet.mode !== mode || wallet.family !== info.family || wallet.disabledAt !== null) continue
    if (!wallet.networks.includes(info.network)) continue
    if (newest === null || wallet.createdAt > newest.createdAt) newest = wallet
  }
  return newest
}

/** A network that was never scanned has no watched address either, so the address source answers for it. */
function isLagging(cursor: ChainCursor | null, now: Ms): boolean {
  if (cursor === null) return false
  return now - cursor.headSeenAt > (cursor.status === 'halted' ? HALTED_LAGGING_MS : LAGGING_MS)
}
