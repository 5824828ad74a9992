import { PaymeshError } from '#shared/contracts/errors.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { quoteRefusal } from '#shared/domain/invoice/decide.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Visitor } from '#shared/usecases/quotes/visitor-budget.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { requireOpenWorkspace } from '#shared/usecases/workspaces/require-open-workspace.ts'
import { methodWithQuote, type QuoteAssetDeps, quoteAsset } from './quote-asset.ts'
import { refusalError } from './refusal-error.ts'
import { type RenewQuoteDeps, renewQuote } from './renew-quote.ts'

/** Dependencies of a payer's choice. */
export type ChooseAssetDeps = QuoteAssetDeps & RenewQuoteDeps & Uses<'workspaces' | 'catalog' | 'rates'>

/** A payer's choice of asset. */
export interface ChooseAssetInput {
  readonly invoiceId: string
  readonly asset: AssetId
  readonly opId: string
  readonly visitor: Visitor
  /** Called once before anything changes; throws when this payer chooses too often. */
  readonly admit: () => Promise<void>
}

/**
 * Fixes the asset that a payer chose, or another one while no payment was seen, and returns the invoice. While a quote of the
 * asset is valid, choosing it returns that quote again, whatever was chosen in between, and its price holds on every network of the coin; afterwards the price uses the current
 * rate, on the address that the payer saw before. Throws `NOT_FOUND`, `WORKSPACE_SUSPENDED`, `INVALID_STATE`,
 * `NO_WALLET_FOR_ASSET` (`VisitorBudgetSpent`), `AMOUNT_BELOW_MINIMUM`, `RATES_UNAVAILABLE`, and every error of `admit`.
 */
export async function chooseAsset(deps: ChooseAssetDeps, input: ChooseAssetInput): Promise<Invoice> {
  const { invoiceId, asset, opId, visitor, admit } = input
  const invoice = await deps.invoices.findById(invoiceId)
  if (invoice === null) throw new PaymeshError('NOT_FOUND')
  const { state, terms, lastOps } = invoice
  if (lastOps.some((op) => op.opId === opId)) return invoice
  await requireOpenWorkspace(deps, terms.workspaceId)
  const at = deps.clock.now()
  const held = methodWithQuote(state, asset, at)
  if (activePaymentMethod(state)?.asset === asset) {
    const isShown = held !== null && state.status === 'pending' && at < state.expiresAt
    return isShown ? invoice : await renewQuote(deps, { invoiceId, opId, visitor, admit })
  }
  // Checked before an address is taken: a refused choice would reserve one for an hour without use.
  const refused = held === null ? quoteRefusal(state, at, asset) : null
  if (refused !== null) throw refusalError(refused)
  await admit()
  return await quoteAsset(deps, { invoiceId, asset, opId, visitor })
}
