import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { AddressBook, Catalog } from '#shared/ports/chain-catalog.ts'
import type { WalletKind, WalletRepository } from '#shared/ports/wallets.ts'
import { checkNetworks } from './add-wallet.ts'
import { type MaterialInput, readAddresses, refuseKeyFields } from './prepare-material.ts'
import { type KeyPreview, previewKey, type ShownAddress } from './preview-key.ts'

/** Addresses shown for comparison with the owner's own wallet. */
const SHOWN = 5
/** A pool of fewer runs out as soon as so many invoices wait at the same time. */
const SMALL_POOL = 10

const EXCHANGE =
  'Not an exchange deposit address. Exchanges change or merge deposits, and transfers inside them never reach the chain. Use a wallet whose keys you hold.'
const UNIQUE_AMOUNTS =
  'One address for all: invoices are told apart by their exact amounts, so a payer who sends another amount needs your decision.'

/** What previewing a wallet needs. */
export interface PreviewWalletDeps {
  readonly addressBook: AddressBook
  readonly catalog: Pick<Catalog, 'asset' | 'hasNode'>
  readonly wallets: Pick<WalletRepository, 'listWallets'>
}

/** What a wallet would be, for a person to compare with their own. */
export interface WalletPreview {
  readonly kind: WalletKind
  readonly networks: readonly NetworkId[]
  /** At most five, in the order in which the owner's wallet shows them; empty as long as a script type has to be chosen. */
  readonly addresses: readonly ShownAddress[]
  /** Null for listed addresses. */
  readonly key: KeyPreview | null
  /** How many addresses were listed, and how many entries repeated one; null for extended keys. */
  readonly listed: { readonly count: number; readonly repeated: number } | null
  /** What the workspace has on this key, pool or address already. */
  readonly standing: 'none' | 'enabled' | 'disabled'
  /** Sentences that a person should read before going on. */
  readonly warnings: readonly string[]
}

/**
 * Reads what a person pasted and shows what it would be; stores, logs and repeats nothing of it. Throws `VALIDATION_ERROR` that
 * names the problem, for a private key of any form as well.
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
  const few = `${count === 1 ? 'One address is' : `${count} addresses are`} few: each serves one open invoice at a time and then rests.`
  return {
    materialId,
    addresses: addresses.slice(0, SHOWN).map(({ address }, index) => ({ index, path: null, address })),
    key: null,
    listed: { count, repeated },
    warnings: input.kind === 'address' ? [UNIQUE_AMOUNTS] : count < SMALL_POOL ? [few] : [],
  }
}
