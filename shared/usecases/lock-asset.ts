import { PaymeshError } from '#shared/contracts/errors.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { type ApplyDeps, type ApplyResult, applyInvoiceEvent } from './apply-invoice-event.ts'
import { ClaimTaken, type Invoice } from './ports/invoices.ts'
import type { Workspace } from './ports/tenancy.ts'
import type { LockPreparer, PreparedLock } from './prepare-lock.ts'
import { refusalError } from './refusal-error.ts'

/** Candidates that may turn out to be taken before something must be wrong with the address source. */
const CANDIDATES_MAX = 50

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
}

/**
 * Fixes asset, amount and address of an invoice and returns it. The address is claimed by the invoice write itself;
 * a candidate that another invoice took first is replaced by the next. Throws `NOT_FOUND`, `INVALID_STATE`,
 * `NO_WALLET_FOR_ASSET`, `AMOUNT_BELOW_MINIMUM` or `RATES_UNAVAILABLE`.
 */
export async function lockAsset(deps: LockAssetDeps, input: LockAssetInput): Promise<Invoice> {
  const invoice = await deps.invoices.findById(input.invoiceId)
  if (invoice === null) throw new PaymeshError('NOT_FOUND')
  if (input.workspaceId !== undefined && invoice.terms.workspaceId !== input.workspaceId) {
    throw new PaymeshError('NOT_FOUND')
  }
  if (input.opId !== null && invoice.lastOps.some((op) => op.opId === input.opId)) return invoice
  const workspace = await deps.workspaces.findById(invoice.terms.workspaceId)
  if (workspace === null) throw new Error(`invoice ${input.invoiceId} belongs to no workspace`)
  const at = deps.clock.now()
  // A `new` or `pending` invoice past its end is only waiting for the clock; nothing may be promised on it any more.
  if (at >= invoice.state.expiresAt) throw refusalError('not_lockable')
  const prepared = await deps.locks.prepare({
    workspace,
    mode: invoice.terms.mode,
    asset: input.asset,
    fiat: invoice.terms.fiat,
    at,
    quoteEndsAt: quoteEnd(invoice, workspace, at),
  })
  const result = await applyLock(deps, input, prepared)
  if (result.outcome === 'missing') throw new PaymeshError('NOT_FOUND')
  if (result.outcome === 'refused') throw refusalError(result.reason)
  return result.invoice
}

/** A quote never outlives an invoice whose life the merchant chose; otherwise the invoice will end with the quote. */
export function quoteEnd(invoice: Invoice, workspace: Workspace, at: Ms): Ms {
  const end = at + workspace.policy.quoteMs
  return invoice.state.endsWithQuote ? end : Math.min(end, invoice.state.expiresAt)
}

async function applyLock(deps: LockAssetDeps, input: LockAssetInput, first: PreparedLock): Promise<ApplyResult> {
  let prepared = first
  for (let candidate = 0; candidate < CANDIDATES_MAX; candidate += 1) {
    try {
      const event = { type: 'asset_locked', lock: prepared.lock } as const
      return await applyInvoiceEvent(deps, { invoiceId: input.invoiceId, event, opId: input.opId })
    } catch (error) {
      if (!(error instanceof ClaimTaken)) throw error
      deps.metrics.count('claim_taken_total', { during: 'lock' })
      prepared = await prepared.next()
    }
  }
  throw new Error(`no free address for invoice ${input.invoiceId} among ${CANDIDATES_MAX} candidates`)
}
