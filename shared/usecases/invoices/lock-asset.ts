import { PaymeshError } from '#shared/contracts/errors.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { type AssetLock, type InvoiceEvent, type InvoiceState, isHeld, type Ms } from '#shared/domain/invoice/model.ts'
import { latestQuote } from '#shared/domain/invoice/quote-window.ts'
import { ClaimTaken, type Invoice } from '#shared/ports/invoices.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { LockPreparer, PreparedLock } from '#shared/usecases/quotes/prepare-lock.ts'
import type { Visitor } from '#shared/usecases/quotes/visitor-budget.ts'
import { type ApplyDeps, type ApplyResult, applyInvoiceEvent } from './apply-invoice-event.ts'
import { refusalError } from './refusal-error.ts'

/** Candidates that may turn out to be taken before something must be wrong with the address source. */
const CANDIDATES_MAX = 50
/** Choices that other choices for the same invoice may overtake. */
const ROUNDS_MAX = 10

/** What choosing an asset for an invoice needs. */
export interface LockAssetDeps extends ApplyDeps {
  readonly locks: LockPreparer
}

/** A payer's (or the simulation's) choice of asset. */
export interface LockAssetInput {
  /** When given, an invoice of another workspace is reported as unknown. */
  readonly workspaceId?: string
  readonly invoiceId: string
  readonly asset: AssetId
  readonly opId: string | null
  /** Who chooses; a further address that this takes draws on the budget of visitors. */
  readonly visitor?: Visitor
}

/**
 * Fixes asset, amount and address of an invoice and returns it. A quote of the asset that still holds is shown again. Otherwise
 * an address that the invoice holds already is used again where the wallet allows it; another one is claimed by the
 * invoice write itself, and a candidate that another invoice took first is replaced by the next. Throws `NOT_FOUND`,
 * `INVALID_STATE`, `NO_WALLET_FOR_ASSET`, `AMOUNT_BELOW_MINIMUM` or `RATES_UNAVAILABLE`.
 */
export async function lockAsset(deps: LockAssetDeps, input: LockAssetInput): Promise<Invoice> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const invoice = await deps.invoices.findById(input.invoiceId)
    if (invoice === null) throw new PaymeshError('NOT_FOUND')
    if (input.workspaceId !== undefined && invoice.terms.workspaceId !== input.workspaceId) {
      throw new PaymeshError('NOT_FOUND')
    }
    if (input.opId !== null && invoice.lastOps.some((op) => op.opId === input.opId)) return invoice
    const result = await lockOnce(deps, input, invoice)
    if (result.outcome === 'missing') throw new PaymeshError('NOT_FOUND')
    if (result.outcome !== 'refused') return result.invoice
    if (result.reason !== 'locks_changed') throw refusalError(result.reason)
  }
  throw refusalError('locks_changed')
}

/** The lock of an asset whose latest quote holds at a time; null when there is none. */
export function lockWithQuote(state: Pick<InvoiceState, 'locks'>, asset: AssetId, at: Ms): AssetLock | null {
  const lock = state.locks.findLast((other) => isHeld(other) && other.asset === asset)
  return lock !== undefined && latestQuote(lock).expiresAt > at ? lock : null
}

/** A quote never outlives an invoice whose life the merchant chose; otherwise the invoice will end with the quote. */
export function quoteEnd(invoice: Invoice, workspace: Workspace, at: Ms): Ms {
  const end = at + workspace.policy.quoteMs
  return invoice.state.endsWithQuote ? end : Math.min(end, invoice.state.expiresAt)
}

async function lockOnce(deps: LockAssetDeps, input: LockAssetInput, invoice: Invoice): Promise<ApplyResult> {
  const { terms, state } = invoice
  const workspace = await deps.workspaces.findById(terms.workspaceId)
  if (workspace === null) throw new Error(`invoice ${input.invoiceId} belongs to no workspace`)
  const at = deps.clock.now()
  // A `new` or `pending` invoice past its end is only waiting for the clock; nothing may be promised on it any more.
  if (at >= state.expiresAt) throw refusalError('not_lockable')
  const held = lockWithQuote(state, input.asset, at)
  if (held !== null) {
    return await apply(deps, input, { type: 'lock_resumed', asset: held.asset, matchKey: held.matchKey })
  }
  const prepared = await deps.locks.prepare({
    workspace,
    mode: terms.mode,
    asset: input.asset,
    fiat: terms.fiat,
    at,
    quoteEndsAt: quoteEnd(invoice, workspace, at),
    held: state.locks,
    ...(input.visitor !== undefined && drawsOnBudget(invoice) && { visitor: input.visitor }),
  })
  return await applyLock(deps, input, prepared, state.locks.length)
}

/**
 * Whether a further address is a visitor's: always on invoices that visitors made, and beyond the first one on those of the
 * merchant's own programs.
 */
function drawsOnBudget({ terms, state }: Invoice): boolean {
  return terms.source === 'link' || state.locks.some(isHeld)
}

async function applyLock(
  deps: LockAssetDeps,
  input: LockAssetInput,
  first: PreparedLock,
  lockCount: number,
): Promise<ApplyResult> {
  let prepared = first
  for (let candidate = 0; candidate < CANDIDATES_MAX; candidate += 1) {
    try {
      return await apply(deps, input, { type: 'asset_locked', lock: prepared.lock, lockCount })
    } catch (error) {
      if (!(error instanceof ClaimTaken)) throw error
      deps.metrics.count('claim_taken_total', { during: 'lock' })
      prepared = await (error.isDraw ? prepared.redraw() : prepared.next())
    }
  }
  throw new Error(`no free address for invoice ${input.invoiceId} among ${CANDIDATES_MAX} candidates`)
}

const apply = (deps: LockAssetDeps, { invoiceId, opId }: LockAssetInput, event: InvoiceEvent): Promise<ApplyResult> =>
  applyInvoiceEvent(deps, { invoiceId, event, opId })
