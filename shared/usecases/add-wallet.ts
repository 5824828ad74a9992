import { PaymeshError } from '#shared/contracts/errors.ts'
import { ASSET_IDS, type Family, type Mode, type NetworkId, networkOf } from '#shared/domain/enumerations.ts'
import { newKeyMaterial } from './key-material.ts'
import type { AddressBook, Catalog } from './ports/catalog.ts'
import type { MailRepository } from './ports/events.ts'
import type { Ambient } from './ports/runtime.ts'
import type { SecretBox } from './ports/secrets.ts'
import type { WorkspaceRepository } from './ports/tenancy.ts'
import type { KeyMaterial, Wallet, WalletRepository } from './ports/wallets.ts'

/** Addresses shown for comparison with the merchant's own wallet. */
const SHOWN = 3
/** Addresses derived at once, so that the wallet can be used as soon as the scanners have taken them in. */
const DERIVED_AT_ONCE = 32

/** What adding a wallet needs. */
export interface AddWalletDeps extends Ambient {
  readonly wallets: Pick<
    WalletRepository,
    'upsertMaterial' | 'insertWallet' | 'listWallets' | 'workspacesUsing' | 'addDerived'
  >
  readonly workspaces: Pick<WorkspaceRepository, 'findById'>
  readonly mails: MailRepository
  readonly addressBook: AddressBook
  readonly catalog: Pick<Catalog, 'asset'>
  readonly secretBox: SecretBox
}

/** A wallet as a person enters it. Without `networks` it serves every network of its family. */
export interface AddWalletInput {
  readonly workspaceId: string
  readonly mode: Mode
  readonly family: Family
  readonly kind: 'xpub' | 'pool' | 'address'
  readonly value: string
  readonly networks?: readonly NetworkId[]
}

/**
 * Adds a receiving wallet by its extended public key and derives its first addresses. Adding the same key again gives
 * the same wallet. A key that another workspace uses is accepted: an address then belongs to whichever invoice claims
 * it, and both owners get one mail. Throws `NOT_FOUND` for an unknown workspace and `VALIDATION_ERROR` for keys, kinds
 * and networks that are not supported; nothing of the value is ever logged or repeated.
 */
export async function addWallet(
  deps: AddWalletDeps,
  input: AddWalletInput,
): Promise<{ readonly wallet: Wallet; readonly firstAddresses: readonly string[] }> {
  const { workspaceId, mode, family } = input
  const networks = checkInput(deps.catalog, input)
  const { xpub, fingerprint } = deps.addressBook.normalise(family, mode, input.value)
  // Anyone may know the sandbox key, in either mode.
  if (xpub === deps.addressBook.sandboxKey(family).xpub) {
    throw invalid('value', 'This is the public sandbox key of test mode: money sent to it is lost.')
  }
  if ((await deps.workspaces.findById(workspaceId)) === null) {
    throw new PaymeshError('NOT_FOUND', { message: 'There is no such workspace.' })
  }
  const material = await deps.wallets.upsertMaterial(
    newKeyMaterial(deps, { mode, family, xpub, fingerprint, sandbox: false }),
  )
  const first = await deriveFirst(deps, material, xpub)
  const wallet = await storeWallet(deps, input, networks, material)
  await announceSharing(deps, material, workspaceId)
  deps.logger.info({ workspaceId, walletId: wallet.id, family, mode }, 'wallet added')
  return { wallet, firstAddresses: first.slice(0, SHOWN) }
}

function checkInput(catalog: Pick<Catalog, 'asset'>, input: AddWalletInput): readonly NetworkId[] {
  if (input.kind !== 'xpub')
    throw invalid('kind', `Wallets of kind ${input.kind} are not supported yet; supported: xpub.`)
  if (input.family !== 'evm') {
    throw invalid('family', `Wallets of the family ${input.family} are not supported yet; supported: evm.`)
  }
  const known = new Set(ASSET_IDS.filter((id) => catalog.asset(id).family === input.family).map(networkOf))
  const networks = [...new Set(input.networks ?? known)]
  if (networks.length === 0) throw invalid('networks', 'Name at least one network.')
  for (const [index, network] of networks.entries()) {
    if (!known.has(network)) {
      throw invalid(
        `networks.${index}`,
        `${network} is no network of the family ${input.family}: ${[...known].join(', ')}.`,
      )
    }
  }
  return networks
}

async function deriveFirst(deps: AddWalletDeps, material: KeyMaterial, xpub: string): Promise<readonly string[]> {
  const { id, mode, family } = material
  const derived = deps.addressBook.derive(family, mode, xpub, 0, DERIVED_AT_ONCE)
  const rows = derived.map((address) => ({ ...address, mode, family, materialId: id, watchedOn: [] }))
  await deps.wallets.addDerived(id, rows, rows.length)
  return derived.map(({ address }) => address)
}

async function storeWallet(
  deps: AddWalletDeps,
  { workspaceId, mode, family }: AddWalletInput,
  networks: readonly NetworkId[],
  material: KeyMaterial,
): Promise<Wallet> {
  const wallet: Wallet = {
    id: deps.random.uuid(),
    workspaceId,
    mode,
    family,
    networks,
    kind: 'xpub',
    materialId: material.id,
    createdAt: deps.clock.now(),
    disabledAt: null,
  }
  if ((await deps.wallets.insertWallet(wallet)) === 'inserted') return wallet
  const known = (await deps.wallets.listWallets(workspaceId)).find((other) => other.materialId === material.id)
  if (known === undefined)
    throw new PaymeshError('INTERNAL_ERROR', { internal: 'an existing wallet cannot be read back' })
  return known
}

/** One mail to each owner about each further workspace; its id makes a repetition harmless. */
async function announceSharing(deps: AddWalletDeps, material: KeyMaterial, newcomer: string): Promise<void> {
  const others = (await deps.wallets.workspacesUsing(material.id)).filter((id) => id !== newcomer)
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

function invalid(path: string, message: string): PaymeshError {
  return new PaymeshError('VALIDATION_ERROR', { details: [{ path, message }] })
}
