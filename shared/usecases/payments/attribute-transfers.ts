import { ASSET_IDS, type Family, type Mode, type NetworkId, networkOf } from '#shared/domain/enumerations.ts'
import { isHeld, type Ms, type PaymentMethod } from '#shared/domain/invoice/model.ts'
import { CLOCK_LAG_MS } from '#shared/domain/invoice/quote-window.ts'
import { isDisplaced, type OwnershipProof } from '#shared/domain/ownership/ownership.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { ClaimHolder } from '#shared/ports/invoices.ts'
import {
  type DisputingInvoice,
  type ObservedTransfer,
  type PaymentBlock,
  partKey,
  type UncountedReason,
} from '#shared/ports/payments.ts'
import type { LedgerTransfer } from '#shared/ports/scanned-blocks.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { addressClaim, amountClaim, proofsOfRows } from '#shared/usecases/wallets/address-standing.ts'

/** Dependencies of finding the owner of a transfer. */
export type AttributeDeps = Uses<'invoices' | 'wallets' | 'catalog'>

/** A transfer to a watched address, its block if any, and when it was first seen. */
export interface FoundTransfer extends SeenTransfer {
  readonly block: PaymentBlock | null
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
  found: FoundTransfer,
  owner: ClaimHolder | null,
): ObservedTransfer {
  const { transfer, block } = found
  const own = owner?.paymentMethods.filter((paymentMethod) => paymentMethod.matchKey === transfer.matchKey) ?? []
  // An invoice may have released the address and claimed it again; a reference identifies a quote permanently.
  const paymentMethods = [...own.filter(isHeld), ...own.filter((paymentMethod) => !isHeld(paymentMethod))]
  const matching = paymentMethods.filter(({ asset, network }) => asset === transfer.asset && network === input.network)
  const isRequested = matching.length > 0
  // The same asset may have been quoted twice: which quote counts is not known yet, so the strictest applies.
  const confirmations = isRequested
    ? Math.max(...matching.map(({ requiredConfirmations }) => requiredConfirmations))
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
    needsFinality: needsFinality(deps.catalog, input.network, matching),
    spends: transfer.spends ?? [],
    firstSeenAt: seenSinceHeld(found, own.filter(isHeld)),
    uncountedReason: isRequested ? null : foreignReason(owner, paymentMethods, input.network),
  }
}

/** When a transfer that is a holder's first appeared: where the time that its node states is refuted, not before the address was offered. */
function seenSinceHeld({ seenAt, seenBy = seenAt }: FoundTransfer, methods: readonly PaymentMethod[]): Ms {
  const offeredAt = Math.min(...methods.map(({ from }) => from)) - CLOCK_LAG_MS
  return offeredAt > seenAt && offeredAt <= seenBy ? offeredAt : seenAt
}

/** A quote may be older than the check that refuses finality on networks without it. */
function needsFinality(
  catalog: Pick<Catalog, 'needsFinality' | 'knowsFinality'>,
  network: NetworkId,
  matching: readonly PaymentMethod[],
): boolean {
  const wanted = matching.some((paymentMethod) => paymentMethod.needsFinality) || catalog.needsFinality(network)
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

/** References of one transfer that are considered when it pays several invoices; more have no sensible use. */
const SPLIT_MAX = 5

/** Dependencies of finding the owners of transfers. */
type FindOwnersDeps = Uses<'invoices' | 'wallets'>

interface Scope {
  readonly mode: Mode
  readonly network: NetworkId
  readonly family: Family
}

/** A transfer and when it was first seen, in Unix milliseconds. */
interface SeenTransfer {
  readonly transfer: LedgerTransfer
  readonly seenAt: Ms
  /** The latest time at which it can have appeared, where that is later: a node stated a time that is refuted. */
  readonly seenBy?: Ms
}

/** A transfer, or the part of one that pays one invoice, and the invoice that owns it; null when there is none. */
interface HeldTransfer {
  readonly transfer: LedgerTransfer
  readonly holder: ClaimHolder | null
  /** The invoices that the money may be for when their address changed hands and the amount does not decide; a person must. */
  readonly disputed?: readonly DisputingInvoice[]
}

type HeldMethod = readonly [holder: ClaimHolder, paymentMethod: PaymentMethod]

/**
 * Looks up all possible owners of one network's transfers and assigns each: to the invoice whose reference it
 * names; otherwise to the one that requested exactly this amount; otherwise to the one that holds the address. Claims that end count
 * only for times at which they were valid, and an address that recently was another invoice's gives its holder only
 * exactly requested amounts. On an address that a workspace proved, invoices of others count only for times
 * before the proof. At most two reads for any number of transfers, and two more if any of them has an owner.
 */
export async function findOwners(
  { invoices, wallets }: FindOwnersDeps,
  scope: Scope,
  transfers: readonly SeenTransfer[],
): Promise<(seen: SeenTransfer) => readonly HeldTransfer[]> {
  const claims = new Set(transfers.flatMap(({ transfer }) => claimsFor(scope, transfer)))
  const references = new Set(transfers.flatMap(({ transfer }) => transfer.references ?? []))
  const [holders, named] = await Promise.all([
    invoices.findByClaims([...claims]),
    references.size === 0 ? [] : invoices.findByReferences(scope.mode, [...references]),
  ])
  const proofs = await proofsFor(wallets, scope, [...holders, ...named], transfers)
  const byClaim = new Map<string, HeldMethod>()
  for (const [claim, held] of holders.flatMap((holder) =>
    holder.paymentMethods.flatMap((paymentMethod) => standingClaims(holder, paymentMethod)),
  )) {
    // Quotes of one invoice may share an address; it is the invoice's since the first of them.
    if ((byClaim.get(claim)?.[1].from ?? Number.POSITIVE_INFINITY) > held[1].from) byClaim.set(claim, held)
  }
  return ({ transfer, seenAt, seenBy = seenAt }) => {
    const proof = proofs.get(transfer.matchKey) ?? null
    const entitled = named.filter(({ workspaceId }) => !isDisplaced(proof, workspaceId, seenAt))
    const referred = referredBy(scope, entitled, transfer)
    const [first] = referred
    if (first !== undefined && referred.length === 1) return [{ transfer, holder: first[0] }]
    const parts = splitBetween(transfer, referred)
    if (parts !== null) return parts
    for (const claim of claimsFor(scope, transfer)) {
      const held = byClaim.get(claim)
      if (held === undefined || !stoodAt(held[1], seenBy)) continue
      if (isDisplaced(proof, held[0].workspaceId, seenAt)) continue
      const [holder, { priorHold }] = held
      if (priorHold === undefined || seenAt > priorHold.until || wasRequested(scope, holder, transfer, seenAt)) {
        return [{ transfer, holder }]
      }
      return [{ transfer, holder: null, disputed: [namesOf(holder), namesOf(priorHold)] }]
    }
    return [{ transfer, holder: null }]
  }
}

/** Proofs by match key, of the addresses that have an owner. */
async function proofsFor(
  wallets: FindOwnersDeps['wallets'],
  { mode, family }: Scope,
  holders: readonly ClaimHolder[],
  transfers: readonly SeenTransfer[],
): Promise<ReadonlyMap<string, OwnershipProof>> {
  const held = new Set(holders.flatMap(({ paymentMethods }) => paymentMethods.map(({ matchKey }) => matchKey)))
  const keys = new Set(transfers.map(({ transfer }) => transfer.matchKey).filter((key) => held.has(key)))
  if (keys.size === 0) return new Map()
  return await proofsOfRows(wallets, await wallets.findAddresses(mode, family, [...keys]))
}

/** The exact amount first: on a shared address it identifies the invoice better than the address. */
function claimsFor(
  { mode, network, family }: Scope,
  { matchKey, asset, amountBase }: LedgerTransfer,
): readonly string[] {
  const whole = addressClaim(mode, family, matchKey)
  return asset === null ? [whole] : [amountClaim(mode, network, matchKey, asset, amountBase), whole]
}

/** The claim of a released quote may be another invoice's by now. */
function standingClaims(
  holder: ClaimHolder,
  paymentMethod: PaymentMethod,
): readonly (readonly [claim: string, held: HeldMethod])[] {
  if (!isHeld(paymentMethod)) return []
  return [paymentMethod.claim, ...(paymentMethod.formerClaims ?? [])].map((claim) => [claim, [holder, paymentMethod]])
}

/** A claim that ends belonged to another invoice or none before its quote; a permanent one belonged to none. */
function stoodAt({ hold, from }: PaymentMethod, time: Ms): boolean {
  return hold === undefined || from - CLOCK_LAG_MS <= time
}

const namesOf = ({ invoiceId, workspaceId, number }: DisputingInvoice): DisputingInvoice => ({
  invoiceId,
  workspaceId,
  number,
})

/** Whether the holder's payer was asked for exactly this amount of this asset on this network, by then. */
function wasRequested(
  { network }: Scope,
  { paymentMethods }: ClaimHolder,
  transfer: LedgerTransfer,
  seenAt: Ms,
): boolean {
  return paymentMethods.some(
    (paymentMethod) =>
      isHeld(paymentMethod) &&
      paymentMethod.asset === transfer.asset &&
      paymentMethod.network === network &&
      paymentMethod.matchKey === transfer.matchKey &&
      paymentMethod.quotes.some(
        ({ amountBase, quotedAt }) => amountBase === transfer.amountBase && quotedAt - CLOCK_LAG_MS <= seenAt,
      ),
  )
}

/** One quote per invoice whose reference the transfer names, preferring the transfer's own asset. */
function referredBy(
  { network }: Scope,
  named: readonly ClaimHolder[],
  transfer: LedgerTransfer,
): readonly HeldMethod[] {
  const references = new Set(transfer.references)
  if (references.size === 0) return []
  return named.flatMap((holder) => {
    const paymentMethods = holder.paymentMethods.filter(
      (paymentMethod) =>
        paymentMethod.reference !== undefined &&
        references.has(paymentMethod.reference) &&
        paymentMethod.matchKey === transfer.matchKey &&
        paymentMethod.network === network,
    )
    const paymentMethod = paymentMethods.find(({ asset }) => asset === transfer.asset) ?? paymentMethods[0]
    return paymentMethod === undefined ? [] : [[holder, paymentMethod] as HeldMethod]
  })
}

/**
 * The parts of a transfer that pays several invoices at once, identified by their references; null unless their amounts
 * add up to it exactly. The key of a part names its reference: it is in the transaction, so the key is stable.
 */
function splitBetween(transfer: LedgerTransfer, referred: readonly HeldMethod[]): readonly HeldTransfer[] | null {
  if (referred.length < 2 || referred.length > SPLIT_MAX) return null
  if (referred.some(([, paymentMethod]) => paymentMethod.asset !== transfer.asset)) return null
  const ordered = [...referred].sort(([, a], [, b]) => ((a.reference ?? '') < (b.reference ?? '') ? -1 : 1))
  const amounts = amountsAddingUp(
    ordered.map(([, paymentMethod]) => paymentMethod.quotes.map(({ amountBase }) => amountBase)),
    transfer.amountBase,
  )
  if (amounts === null) return null
  return ordered.map(([holder, paymentMethod], index) => ({
    holder,
    transfer: {
      ...transfer,
      key: partKey(transfer.key, paymentMethod.reference ?? ''),
      amountBase: amounts[index] ?? 0n,
    },
  }))
}

/**
 * One choice from each of at least two lists so that the sum matches, older quotes first, so that a later quote never changes the result. The sums
 * of the last two are looked up: a payer may collect twenty quotes of each invoice.
 */
function amountsAddingUp(lists: readonly (readonly bigint[])[], total: bigint): readonly bigint[] | null {
  const [one = [], other = []] = lists.slice(-2)
  const pairs = new Map<bigint, readonly bigint[]>()
  for (const left of one) {
    for (const right of other) if (!pairs.has(left + right)) pairs.set(left + right, [left, right])
  }
  function choose(at: number, rest: bigint): readonly bigint[] | null {
    if (at === lists.length - 2) return pairs.get(rest) ?? null
    for (const amount of lists[at] ?? []) {
      const others = choose(at + 1, rest - amount)
      if (others !== null) return [amount, ...others]
    }
    return null
  }
  return choose(0, total)
}
