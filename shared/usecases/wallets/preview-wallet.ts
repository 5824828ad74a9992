import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { WalletKind } from '#shared/ports/key-material.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { checkNetworks } from './add-wallet.ts'
import { type MaterialInput, readAddresses, refuseKeyFields } from './prepare-material.ts'
import { type KeyPreview, previewKey, type ShownAddress } from './preview-key.ts'

/** Addresses shown for comparison with the owner's own wallet. */
const SHOWN = 5
/** A smaller pool is used up as soon as this many invoices wait at the same time. */
const SMALL_POOL = 10

const EXCHANGE =
  'Do not use an exchange deposit address. Exchanges change or merge deposits, and their internal transfers never reach the chain. Use a wallet whose keys you control.'
const UNIQUE_AMOUNTS =
  'All invoices share one address and are matched by their exact amounts, so a payment of another amount needs your decision.'

/** Dependencies of previewing a wallet. */
export type PreviewWalletDeps = Uses<'addressBook' | 'catalog' | 'wallets'>

/** Preview of a wallet, for comparison with the owner's own. */
export interface WalletPreview {
  readonly kind: WalletKind
  readonly networks: readonly NetworkId[]
  /** At most five, in the order of the owner's wallet; empty until a script type is chosen. */
  readonly addresses: readonly ShownAddress[]
  /** Null for listed addresses. */
  readonly key: KeyPreview | null
  /** How many addresses were listed, and how many entries repeated one; null for extended keys. */
  readonly listed: { readonly count: number; readonly repeated: number } | null
  /** State of the workspace's wallet on this key, pool or address. */
  readonly standing: 'none' | 'enabled' | 'disabled'
  /** Sentences that a person should read before continuing. */
  readonly warnings: readonly string[]
}

/**
 * Reads pasted material and previews it; stores, logs and repeats nothing of it. Throws `VALIDATION_ERROR` that
 * names the problem, also for a private key of any form.
 */
export async function previewWallet(
  deps: PreviewWalletDeps,
  input: MaterialInput & { readonly networks?: readonly NetworkId[] },
): Promise<WalletPreview> {
  const networks = checkNetworks(deps.catalog, input)
  const { materialId, warnings, ...read } =
    input.kind === 'xpub' ? { ...previewKey(deps, input), listed: null, warnings: [] } : readListShown(deps, input)
  const known = (await deps.wallets.listWallets(input.workspaceId)).find((wallet) => wallet.materialId === materialId)
  const standing = known === undefined ? 'none' : known.disabledAt === null ? 'enabled' : 'disabled'
  return { kind: input.kind, networks, ...read, standing, warnings: [...warnings, EXCHANGE] }
}

function readListShown(deps: PreviewWalletDeps, input: MaterialInput) {
  refuseKeyFields(input)
  const { addresses, repeated, materialId } = readAddresses(deps, input)
  const count = addresses.length
  const few = `${count === 1 ? 'One address is' : `${count} addresses are`} few: each address is used for one open invoice at a time, then cools down.`
  return {
    materialId,
    addresses: addresses.slice(0, SHOWN).map(({ address }, index) => ({ index, path: null, address })),
    key: null,
    listed: { count, repeated },
    warnings: input.kind === 'address' ? [UNIQUE_AMOUNTS] : count < SMALL_POOL ? [few] : [],
  }
}
