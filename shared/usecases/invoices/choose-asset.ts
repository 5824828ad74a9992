import { PaymeshError } from '#shared/contracts/errors.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { lockRefusal } from '#shared/domain/invoice/decide-lock.ts'
import { activeLock } from '#shared/domain/invoice/model.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Visitor } from '#shared/usecases/quotes/visitor-budget.ts'
import { requireOpenWorkspace } from '#shared/usecases/workspaces/require-open-workspace.ts'
import { type LockAssetDeps, lockAsset, lockWithQuote } from './lock-asset.ts'
import { refusalError } from './refusal-error.ts'
import { type RenewQuoteDeps, renewQuote } from './renew-quote.ts'

/** What a payer's choice needs. */
export interface ChooseAssetDeps extends LockAssetDeps, RenewQuoteDeps {
  readonly workspaces: LockAssetDeps['workspaces'] & RenewQuoteDeps['workspaces']
  readonly catalog: RenewQuoteDeps['catalog']
  readonly rates: RenewQuoteDeps['rates']
}

/** What a payer chose, and what it costs him. */
export interface ChooseAssetInput {
  readonly invoiceId: string
  readonly asset: AssetId
  readonly opId: string
  readonly visitor: Visitor
  /** Called once before anything changes; throws when this payer does so too often. */
  readonly admit: () => Promise<void>
}

/**
 * Locks the asset that a payer chose, or another one while nothing has been seen, and returns the invoice. While a quote of the
 * asset holds, choosing it shows that quote again, whatever was chosen in between; afterwards the price is made at the rate of
 * the moment, on the address that the payer saw before. Throws `NOT_FOUND`, `WORKSPACE_SUSPENDED`, `INVALID_STATE`,
 * `NO_WALLET_FOR_ASSET` (`VisitorBudgetSpent`), `AMOUNT_BELOW_MINIMUM`, `RATES_UNAVAILABLE`, and what `admit` throws.
 */
export async function chooseAsset(deps: ChooseAssetDeps, input: ChooseAssetInput): Promise<Invoice> {
  const { invoiceId, asset, opId, visitor } = input
  const invoice = await deps.invoices.findById(invoiceId)
  if (invoice === null) throw new PaymeshError('NOT_FOUND')
  const { state, terms, lastOps } = invoice
  if (lastOps.some((op) => op.opId === opId)) return invoice
  await requireOpenWorkspace(deps, terms.workspaceId)
  const at = deps.clock.now()
  const held = lockWithQuote(state, asset, at)
  if (activeLock(state)?.asset === asset) {
    const isShown = held !== null && state.status === 'pending' && at < state.expiresAt
    return isShown ? invoice : await renewQuote(deps, { invoiceId, opId, visitor })
  }
  // Judged before an address is taken: a refused choice would leave it lying about for an hour.
  const refused = held === null ? lockRefusal(state, at, asset) : null
  if (refused !== null) throw refusalError(refused)
  await input.admit()
  return await lockAsset(deps, { invoiceId, asset, opId, visitor })
}
