import type { Family, NetworkId } from '#shared/domain/enumerations.ts'
import { checkNetworks } from './add-wallet.ts'
import type { AddressBook, Catalog } from './ports/catalog.ts'
import type { WalletKind, WalletRepository } from './ports/wallets.ts'
import { type MaterialInput, readAddresses, readKey } from './prepare-material.ts'

/** Addresses shown for comparison with the owner's own wallet. */
const SHOWN = 5
/** A pool of fewer runs out as soon as so many invoices wait at the same time. */
const SMALL_POOL = 10

/** Where the external chain of a family's first account lies (BIP 44, BIP 84). */
const PATHS: Readonly<Partial<Record<Family, string>>> = {
  bitcoin: "m/84'/0'/0'/0",
  litecoin: "m/84'/2'/0'/0",
  dogecoin: "m/44'/3'/0'/0",
  evm: "m/44'/60'/0'/0",
  tron: "m/44'/195'/0'/0",
}

const EXCHANGE =
  'Not an exchange deposit address. Exchanges change or merge deposits, and transfers inside them never reach the chain. Use a wallet whose keys you hold.'
const SEGWIT =
  'Addresses of native SegWit are made of this key. If your wallet shows addresses that begin with 1, 3, L or M, take the key of its native SegWit account.'
const UNIQUE_AMOUNTS =
  'One address for all: invoices are told apart by their exact amounts, so a payer who sends another amount needs your decision.'

/** What previewing a wallet needs. */
export interface PreviewWalletDeps {
  readonly addressBook: AddressBook
  readonly catalog: Pick<Catalog, 'asset'>
  readonly wallets: Pick<WalletRepository, 'listWallets'>
}

/** What a wallet would be, for a person to compare with their own. */
export interface WalletPreview {
  readonly kind: WalletKind
  readonly networks: readonly NetworkId[]
  /** At most five, in the order in which the owner's wallet shows them. */
  readonly addresses: readonly { readonly index: number; readonly path: string | null; readonly address: string }[]
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
    input.kind === 'xpub' ? readKeyShown(deps, input) : readListShown(deps, input)
  const known = (await deps.wallets.listWallets(input.workspaceId)).find((wallet) => wallet.materialId === materialId)
  const standing = known === undefined ? 'none' : known.disabledAt === null ? 'enabled' : 'disabled'
  return { kind: input.kind, networks, ...read, standing, warnings: [...warnings, EXCHANGE] }
}

function readKeyShown(deps: PreviewWalletDeps, input: MaterialInput) {
  const { mode, family, value } = input
  const { xpub, fingerprint } = readKey(deps, input)
  const path = PATHS[family]
  const segwit = family === 'bitcoin' || family === 'litecoin'
  return {
    materialId: `${mode}:${family}:${fingerprint}`,
    addresses: deps.addressBook.derive(family, mode, xpub, 0, SHOWN).map(({ index, address }) => ({
      index,
      path: path === undefined ? null : `${path}/${index}`,
      address,
    })),
    listed: null,
    warnings: segwit && !/^[zv]pub/.test(value.trim()) ? [SEGWIT] : [],
  }
}

function readListShown(deps: PreviewWalletDeps, input: MaterialInput) {
  const { addresses, repeated, materialId } = readAddresses(deps, input)
  const count = addresses.length
  const few = `${count === 1 ? 'One address is' : `${count} addresses are`} few: each serves one open invoice at a time and then rests.`
  return {
    materialId,
    addresses: addresses.slice(0, SHOWN).map(({ address }, index) => ({ index, path: null, address })),
    listed: { count, repeated },
    warnings: input.kind === 'address' ? [UNIQUE_AMOUNTS] : count < SMALL_POOL ? [few] : [],
  }
}
