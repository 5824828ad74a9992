import { ASSET_IDS, type Family, type Mode, type NetworkId, networkOf } from '#shared/domain/enumerations.ts'
import { type AssetLock, isHeld, type Ms } from '#shared/domain/invoice/model.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { ClaimHolder, InvoiceRepository } from '#shared/ports/invoices.ts'
import type { PaymentBlock, PaymentSighting, UncountedReason } from '#shared/ports/payments.ts'
import type { LedgerTransfer } from '#shared/ports/scanning.ts'
import { type FindHoldersDeps, findHolders } from './find-holders.ts'

/** What finding the owner of a transfer needs. */
export interface AttributeDeps {
  readonly invoices: Pick<InvoiceRepository, 'findByClaims' | 'findByReferences'>
  readonly wallets: FindHoldersDeps['wallets']
  readonly catalog: Pick<Catalog, 'asset' | 'confirmations' | 'needsFinality' | 'knowsFinality'>
}

/** A transfer to a watched address, the block it stands in if any, and when it was first seen as far as the finder knows. */
export interface FoundTransfer {
  readonly transfer: LedgerTransfer
  readonly block: PaymentBlock | null
  readonly seenAt: Ms
}

/** Transfers of one network in one mode. */
export interface AttributeInput {
  readonly mode: Mode
  readonly network: NetworkId
  readonly found: readonly FoundTransfer[]
}

/**
 * Says of each transfer which invoice it belongs to and whether it is the money that was asked for. An address derived
 * from an extended key belongs to the invoice that claimed it for ever, whatever its state; a pooled address and a
 * unique amount to the one that holds it at the time. What nobody holds is `unmatched`, and so is what came to an address that
 * changed hands lately without being what its holder asked for: it names the invoices in question. Money on an address that another
 * workspace proved by then is `unmatched` too. A transfer that names
 * references of several invoices and pays all of them becomes one sighting for each. Which lock is active is not asked
 * here: the fold judges it with all payments in view. Order is kept.
 */
export async function attributeTransfers(
  deps: AttributeDeps,
  input: AttributeInput,
): Promise<readonly PaymentSighting[]> {
  if (input.found.length === 0) return []
  const family = familyOf(deps.catalog, input.network)
  const ownersOf = await findHolders(deps, { mode: input.mode, network: input.network, family }, input.found)
  return input.found.flatMap((found) =>
    ownersOf(found).map(({ transfer, holder, disputed }) => ({
      ...sighting(deps, input, { ...found, transfer }, holder),
      ...(disputed !== undefined && { disputed }),
    })),
  )
}

/** The address family of a network, from the catalogue's rows. */
export function familyOf(catalog: Pick<Catalog, 'asset'>, network: NetworkId): Family {
  const asset = ASSET_IDS.find((id) => networkOf(id) === network)
  if (asset === undefined) throw new Error(`no asset lives on ${network}`)
  return catalog.asset(asset).family
}

function sighting(
  deps: AttributeDeps,
  input: AttributeInput,
  { transfer, block, seenAt }: FoundTransfer,
  owner: ClaimHolder | null,
): PaymentSighting {
  const own = owner?.locks.filter((lock) => lock.matchKey === transfer.matchKey) ?? []
  // An invoice may have given the address back and got it again; a reference names a lock for ever.
  const locks = [...own.filter(isHeld), ...own.filter((lock) => !isHeld(lock))]
  const asking = locks.filter(({ asset, network }) => asset === transfer.asset && network === input.network)
  const isAskedFor = asking.length > 0
  // The same asset may have been locked twice: which lock counts is not known yet, so the strictest holds.
  const confirmations = isAskedFor
    ? Math.max(...asking.map(({ requiredConfirmations }) => requiredConfirmations))
    : defaultConfirmations(deps.catalog, input, transfer)
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
    requiredConfirmations: Math.max(1, confirmations, transfer.minConfirmations ?? 1),
    needsFinality: needsFinality(deps.catalog, input.network, asking),
    spends: transfer.spends ?? [],
    firstSeenAt: seenAt,
    uncountedReason: isAskedFor ? null : foreignReason(owner, locks, input.network),
  }
}

/** A lock may be older than the check that refuses to wait for finality where there is none. */
function needsFinality(
  catalog: Pick<Catalog, 'needsFinality' | 'knowsFinality'>,
  network: NetworkId,
  asking: readonly AssetLock[],
): boolean {
  const wanted = asking.some((lock) => lock.needsFinality) || catalog.needsFinality(network)
  return wanted && catalog.knowsFinality(network)
}

function foreignReason(owner: ClaimHolder | null, locks: readonly AssetLock[], network: NetworkId): UncountedReason {
  if (owner === null) return 'unmatched'
  return locks.some((lock) => lock.network === network) ? 'wrong_asset' : 'wrong_network'
}

function defaultConfirmations(
  catalog: Pick<Catalog, 'confirmations'>,
  input: AttributeInput,
  transfer: LedgerTransfer,
): number {
  const asset = transfer.asset ?? ASSET_IDS.find((id) => networkOf(id) === input.network)
  if (asset === undefined) throw new Error(`no asset lives on ${input.network}`)
  return catalog.confirmations(asset, input.mode)
}
