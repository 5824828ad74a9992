import { ASSET_IDS, type Family, type Mode, type NetworkId, networkOf } from '#shared/domain/enumerations.ts'
import type { AssetLock, Ms } from '#shared/domain/invoice/model.ts'
import type { Catalog } from './ports/catalog.ts'
import type { InvoiceRepository } from './ports/invoices.ts'
import type { PaymentBlock, PaymentSighting, UncountedReason } from './ports/payments.ts'
import type { RawTransfer } from './ports/scanning.ts'

/** What finding the owner of a transfer needs. */
export interface AttributeDeps {
  readonly invoices: Pick<InvoiceRepository, 'findByMatchKeys'>
  readonly catalog: Pick<Catalog, 'asset' | 'confirmations' | 'needsFinality'>
}

/** A transfer to a watched address, the block it stands in if any, and when it was first seen as far as the finder knows. */
export interface FoundTransfer {
  readonly transfer: RawTransfer
  readonly block: PaymentBlock | null
  readonly seenAt: Ms
}

/** Transfers of one network in one mode. */
export interface AttributeInput {
  readonly mode: Mode
  readonly network: NetworkId
  readonly found: readonly FoundTransfer[]
}

interface Owner {
  readonly invoiceId: string
  readonly workspaceId: string
  readonly locks: readonly AssetLock[]
}

/**
 * Says of each transfer which invoice its address belongs to and whether it is the money that was asked for. An
 * address derived from an extended key belongs to the invoice that claimed it for ever, whatever its state; a
 * transfer to an address that no invoice holds is `unmatched`. Which lock is active is not asked here: the fold
 * judges it with all payments in view. Order is kept.
 */
export async function attributeTransfers(
  deps: AttributeDeps,
  input: AttributeInput,
): Promise<readonly PaymentSighting[]> {
  const matchKeys = new Set(input.found.map(({ transfer }) => transfer.matchKey))
  if (matchKeys.size === 0) return []
  const family = familyOf(deps.catalog, input.network)
  const owners = ownersByMatchKey(await deps.invoices.findByMatchKeys(input.mode, [...matchKeys]), family)
  return input.found.map((found) => sighting(deps, input, found, owners.get(found.transfer.matchKey) ?? null))
}

/** The address family of a network, from the catalogue's rows. */
export function familyOf(catalog: Pick<Catalog, 'asset'>, network: NetworkId): Family {
  const asset = ASSET_IDS.find((id) => networkOf(id) === network)
  if (asset === undefined) throw new Error(`no asset lives on ${network}`)
  return catalog.asset(asset).family
}

/** The same bytes may be an address of two families, hence locks of other families do not own the transfer. */
function ownersByMatchKey(found: readonly Owner[], family: Family): ReadonlyMap<string, Owner> {
  const owners = new Map<string, Owner>()
  for (const owner of found) {
    for (const lock of owner.locks) if (lock.family === family) owners.set(lock.matchKey, owner)
  }
  return owners
}

function sighting(
  deps: AttributeDeps,
  input: AttributeInput,
  { transfer, block, seenAt }: FoundTransfer,
  owner: Owner | null,
): PaymentSighting {
  const locks = owner?.locks.filter((lock) => lock.matchKey === transfer.matchKey) ?? []
  const lock = locks.find((candidate) => candidate.asset === transfer.asset && candidate.network === input.network)
  const confirmations = lock?.requiredConfirmations ?? defaultConfirmations(deps.catalog, input, transfer)
  return {
    key: transfer.key,
    mode: input.mode,
    network: input.network,
    asset: transfer.asset,
    invoiceId: owner?.invoiceId ?? null,
    workspaceId: owner?.workspaceId ?? null,
    matchKey: transfer.matchKey,
    toAddress: transfer.toAddress,
    fromAddress: transfer.fromAddress,
    amountBase: transfer.amountBase,
    txHash: transfer.txHash,
    outputIndex: transfer.outputIndex,
    contract: transfer.contract,
    block,
    requiredConfirmations: Math.max(confirmations, transfer.minConfirmations ?? 1),
    needsFinality: lock?.needsFinality ?? deps.catalog.needsFinality(input.network),
    spends: transfer.spends ?? [],
    firstSeenAt: seenAt,
    uncountedReason: lock === undefined ? foreignReason(owner, locks, input.network) : null,
  }
}

function foreignReason(owner: Owner | null, locks: readonly AssetLock[], network: NetworkId): UncountedReason {
  if (owner === null) return 'unmatched'
  return locks.some((lock) => lock.network === network) ? 'wrong_asset' : 'wrong_network'
}

function defaultConfirmations(
  catalog: Pick<Catalog, 'confirmations'>,
  input: AttributeInput,
  transfer: RawTransfer,
): number {
  const asset = transfer.asset ?? ASSET_IDS.find((id) => networkOf(id) === input.network)
  if (asset === undefined) throw new Error(`no asset lives on ${input.network}`)
  return catalog.confirmations(asset, input.mode)
}
