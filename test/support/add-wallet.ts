import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import {
  type AddedWallet,
  type AddWalletDeps,
  type AddWalletInput,
  announceSharing,
  checkNetworks,
} from '#shared/usecases/wallets/add-wallet.ts'
import { keyStanding } from '#shared/usecases/wallets/key-history.ts'
import { prepareMaterial } from '#shared/usecases/wallets/prepare-material.ts'

/**
 * Adds a receiving wallet at once, without the operator, proof and delay of `addAnnouncedWallet`: an extended public key, a pool of addresses, or one address with unique amounts. Adding it
 * again returns the same wallet; adding to a pool extends it; a disabled wallet is enabled. Material that another workspace
 * uses is accepted: money then belongs to the invoice that holds the address or amount, and each owner gets one mail.
 * Throws `NOT_FOUND` for an unknown workspace and `VALIDATION_ERROR` that names the problem; then nothing is stored.
 * No part of the value is ever logged or repeated.
 */
export async function addWallet(deps: AddWalletDeps, input: AddWalletInput): Promise<AddedWallet> {
  const networks = checkNetworks(deps.catalog, input)
  if ((await deps.workspaces.findById(input.workspaceId)) === null) {
    throw new PaymeshError('NOT_FOUND', { message: 'Workspace not found.' })
  }
  const { material, firstAddresses, listed, sharedWith } = await prepareMaterial(deps, input)
  const wallet = await storeWallet(deps, input, networks, material)
  await announceSharing(deps, material, input.workspaceId, sharedWith)
  const { workspaceId, mode, family, kind } = input
  deps.logger.info({ workspaceId, walletId: wallet.id, family, mode, kind }, 'wallet added')
  return { wallet, key: keyStanding(material), firstAddresses, listed }
}

async function storeWallet(
  deps: AddWalletDeps,
  { workspaceId, mode, family, kind }: AddWalletInput,
  networks: readonly NetworkId[],
  material: KeyMaterial,
): Promise<Wallet> {
  const wallet: Wallet = {
    id: deps.random.uuid(),
    workspaceId,
    mode,
    family,
    networks,
    kind,
    materialId: material.id,
    createdAt: deps.clock.now(),
    disabledAt: null,
  }
  if ((await deps.wallets.insertWallet(wallet)) === 'inserted') return wallet
  const known = (await deps.wallets.listWallets(workspaceId)).find((other) => other.materialId === material.id)
  const enabled = known === undefined ? null : await deps.wallets.setDisabled(known.id, null)
  if (enabled === null) throw new PaymeshError('INTERNAL_ERROR', { internal: 'an existing wallet cannot be read back' })
  return enabled
}
