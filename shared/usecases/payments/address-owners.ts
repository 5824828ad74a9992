import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { proofsOfRows } from '#shared/usecases/wallets/address-standing.ts'
import { familyOf } from './attribute-transfers.ts'

/** Dependencies of finding the owners of an address. */
export type AddressOwnerDeps = Uses<'wallets' | 'catalog'>

/** An address on a network, as in a transfer. */
export interface PaidAddress {
  readonly mode: Mode
  readonly network: NetworkId
  readonly matchKey: string
}

/**
 * Workspaces by match key: the one that proved control of the address, otherwise those whose key derived it or whose lists contain
 * it. All addresses are of one mode and network. Unowned addresses are left out.
 */
export async function addressOwners(
  deps: AddressOwnerDeps,
  paid: readonly PaidAddress[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const [first] = paid
  if (first === undefined) return new Map()
  const family = familyOf(deps.catalog, first.network)
  const matchKeys = paid.map(({ matchKey }) => matchKey)
  const addresses = await deps.wallets.findAddresses(first.mode, family, matchKeys)
  const proofs = await proofsOfRows(deps.wallets, addresses)
  const byMaterial = new Map<string, readonly string[]>()
  const materialsOf = ({ materialId, heldBy }: WatchedAddress) => heldBy ?? [materialId]
  for (const materialId of new Set(addresses.flatMap(materialsOf))) {
    byMaterial.set(materialId, await deps.wallets.workspacesUsing(materialId))
  }
  return new Map(
    addresses.map((address) => {
      const proof = proofs.get(address.matchKey)
      const users = materialsOf(address).flatMap((materialId) => byMaterial.get(materialId) ?? [])
      return [address.matchKey, proof === undefined ? [...new Set(users)] : [proof.workspaceId]]
    }),
  )
}

/** Those payments of one network that a workspace may read: its own, and unmatched money at its addresses. */
export async function paymentsConcerning(
  deps: AddressOwnerDeps,
  workspaceId: string,
  payments: readonly Payment[],
): Promise<readonly Payment[]> {
  const owners = await addressOwners(
    deps,
    payments.filter((payment) => payment.workspaceId === null),
  )
  return payments.filter((payment) =>
    payment.workspaceId === null
      ? owners.get(payment.matchKey)?.includes(workspaceId) === true
      : payment.workspaceId === workspaceId,
  )
}
