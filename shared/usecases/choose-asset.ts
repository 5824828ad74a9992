import { PaymeshError } from '#shared/contracts/errors.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { lockRefusal } from '#shared/domain/invoice/decide-lock.ts'
import { activeLock } from '#shared/domain/invoice/model.ts'
import { type LockAssetDeps, lockAsset } from './lock-asset.ts'
import type { Invoice } from './ports/invoices.ts'
import { refusalError } from './refusal-error.ts'
import { type RenewQuoteDeps, renewQuote } from './renew-quote.ts'
import { requireOpenWorkspace } from './require-open-workspace.ts'

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
  /** Called once before an address is taken; throws when this payer took too many. */
  readonly admit: () => Promise<void>
}

/**
 * Locks the asset that a payer chose, or another one while nothing has been seen, and returns the invoice. The asset that
 * is locked already takes no second address: its price is renewed where it is over. Throws `NOT_FOUND`,
 * `WORKSPACE_SUSPENDED`, `INVALID_STATE`, `NO_WALLET_FOR_ASSET`, `AMOUNT_BELOW_MINIMUM`, `RATES_UNAVAILABLE`, and what `admit` throws.
 */
export async function chooseAsset(deps: ChooseAssetDeps, input: ChooseAssetInput): Promise<Invoice> {
  const { invoiceId, asset, opId } = input
  const invoice = await deps.invoices.findById(invoiceId)
  if (invoice === null) throw new PaymeshError('NOT_FOUND')
  if (invoice.lastOps.some((op) => op.opId === opId)) return invoice
  if (activeLock(invoice.state)?.asset === asset) return await renewQuote(deps, { invoiceId, opId })
  await requireOpenWorkspace(deps, invoice.terms.workspaceId)
  // Judged before an address is taken: a refused choice would leave it lying about for an hour.
  const refused = lockRefusal(invoice.state, deps.clock.now())
  if (refused !== null) throw refusalError(refused)
  await input.admit()
  return await lockAsset(deps, { invoiceId, asset, opId })
}
