import { ASSET_IDS, type Family, type Mode, type NetworkId, networkOf } from '#shared/domain/enumerations.ts'
import { isHeld, type Ms, type PaymentMethod } from '#shared/domain/invoice/model.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { ClaimHolder } from '#shared/ports/invoices.ts'
import type { ObservedTransfer, PaymentBlock, UncountedReason } from '#shared/ports/payments.ts'
import type { LedgerTransfer } from '#shared/ports/scanned-blocks.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { findOwners } from './find-owners.ts'

/** Dependencies of finding the owner of a transfer. */
export type AttributeDeps = Uses<'invoices' | 'wallets' | 'catalog'>

/** A transfer to a watched address, its block if any, and when it was first seen as far as the caller knows. */
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
 * Assigns each transfer to an invoice and states whether it is the requested asset. An address derived
 * from an extended key belongs permanently to the invoice that claimed it, whatever its state; a pooled address and a
 * unique amount belong to the invoice holding them at the time. A transfer to an unheld address is `unmatched`, and so is one to an
 * address that recently changed hands, unless its holder requested exactly it: it names the invoices in question. Money on an address that another
 * workspace proved by then is `unmatched` too. A transfer that names
 * references of several invoices and pays all of them becomes one observation for each. Which quote is active is not considered
 * here: the fold checks it with all payments available. Order is kept.
 */
export async function attributeTransfers(
  deps: AttributeDeps,
  input: AttributeInput,
): Promise<readonly ObservedTransfer[]> {
  if (input.found.length === 0) return []
  const family = familyOf(deps.catalog, input.network)
  const ownersOf = await findOwners(deps, { mode: input.mode, network: input.network, family }, input.found)
  return input.found.flatMap((found) =>
    ownersOf(found).map(({ transfer, holder, disputed }) => ({
      ...observation(deps, input, { ...found, transfer }, holder),
      ...(disputed !== undefined && { disputed }),
    })),
  )
}

/** The address family of a network, from the catalog's rows. */
export function familyOf(catalog: Pick<Catalog, 'asset'>, network: NetworkId): Family {
  const asset = ASSET_IDS.find((id) => networkOf(id) === network)
  if (asset === undefined) throw new Error(`no asset lives on ${network}`)
  return catalog.asset(asset).family
}

function observation(
  deps: AttributeDeps,
  input: AttributeInput,
  { transfer, block, seenAt }: FoundTransfer,
  owner: ClaimHolder | null,
): ObservedTransfer {
  const own = owner?.paymentMethods.filter((paymentMethod) => paymentMethod.matchKey === transfer.matchKey) ?? []
  // An invoice may have released the address and claimed it again; a reference identifies a quote permanently.
  const paymentMethods = [...own.filter(isHeld), ...own.filter((paymentMethod) => !isHeld(paymentMethod))]
  const asking = paymentMethods.filter(({ asset, network }) => asset === transfer.asset && network === input.network)
  const isAskedFor = asking.length > 0
  // The same asset may have been quoted twice: which quote counts is not known yet, so the strictest applies.
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
    uncountedReason: isAskedFor ? null : foreignReason(owner, paymentMethods, input.network),
  }
}

/** A quote may be older than the check that refuses finality on networks without it. */
function needsFinality(
  catalog: Pick<Catalog, 'needsFinality' | 'knowsFinality'>,
  network: NetworkId,
  asking: readonly PaymentMethod[],
): boolean {
  const wanted = asking.some((paymentMethod) => paymentMethod.needsFinality) || catalog.needsFinality(network)
  return wanted && catalog.knowsFinality(network)
}

function foreignReason(
  owner: ClaimHolder | null,
  paymentMethods: readonly PaymentMethod[],
  network: NetworkId,
): UncountedReason {
  if (owner === null) return 'unmatched'
  return paymentMethods.some((paymentMethod) => paymentMethod.network === network) ? 'wrong_asset' : 'wrong_network'
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
