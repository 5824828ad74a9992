import { invalidField } from '#shared/contracts/errors.ts'
import type { KeyStanding } from '#shared/contracts/wallet-previews.ts'
import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { familyNetworks } from './history-source.ts'
import type { MaterialInput, PreparedMaterial, PrepareMaterialDeps } from './prepare-material.ts'

/** Dependencies of adding a wallet. */
export type AddWalletDeps = Runtime & PrepareMaterialDeps & Uses<'wallets' | 'workspaces' | 'mails'>

/** A wallet as a person enters it. Without `networks` it serves every network of its family. */
export interface AddWalletInput extends MaterialInput {
  readonly networks?: readonly NetworkId[]
}

/** The result, for the person to compare. */
export interface AddedWallet extends Pick<PreparedMaterial, 'firstAddresses' | 'listed'> {
  readonly wallet: Wallet
  /** Null unless it is an extended key. */
  readonly key: KeyStanding | null
}

/** The networks of a wallet, by default all of its family. Throws `VALIDATION_ERROR` for others. */
export function checkNetworks(
  catalog: Pick<Catalog, 'asset'>,
  input: Pick<AddWalletInput, 'family' | 'networks'>,
): readonly NetworkId[] {
  const known = new Set(familyNetworks(catalog, input.family))
  const networks = [...new Set(input.networks ?? known)]
  if (networks.length === 0) throw invalidField('networks', 'Enter at least one network.')
  for (const [index, network] of networks.entries()) {
    if (!known.has(network)) {
      throw invalidField(
        `networks.${index}`,
        `${network} is not a network of the family ${input.family}: ${[...known].join(', ')}.`,
      )
    }
  }
  return networks
}

/** One mail to each owner about each additional workspace; its id makes a repetition harmless. */
export async function announceSharing(
  deps: Pick<AddWalletDeps, 'workspaces' | 'mails' | 'clock'>,
  material: KeyMaterial,
  newcomer: string,
  sharedWith: readonly string[],
): Promise<void> {
  const others = [...new Set(sharedWith)].filter((id) => id !== newcomer)
  if (others.length === 0) return
  const found = await Promise.all([newcomer, ...others].map((id) => deps.workspaces.findById(id)))
  const createdAt = deps.clock.now()
  await deps.mails.insertMany(
    found.flatMap((workspace) =>
      workspace === null
        ? []
        : [
            {
              id: `shared-key-material:${material.id}:${newcomer}:${workspace.id}`,
              workspaceId: workspace.id,
              template: 'shared_key_material' as const,
              to: workspace.ownerEmail,
              data: { family: material.family, mode: material.mode, fingerprint: material.fingerprint.slice(0, 8) },
              createdAt,
            },
          ],
    ),
  )
}
