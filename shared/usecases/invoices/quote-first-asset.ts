import { type ErrorCode, PaymeshError } from '#shared/contracts/errors.ts'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import { type QuoteAssetDeps, quoteAsset } from './quote-asset.ts'

/** `VALIDATION_ERROR`: the asset's chain cannot carry the amount. */
const UNAVAILABLE: readonly ErrorCode[] = [
  'NO_WALLET_FOR_ASSET',
  'AMOUNT_BELOW_MINIMUM',
  'VALIDATION_ERROR',
  'RATES_UNAVAILABLE',
]

/**
 * Chooses for a `new` invoice the first asset, in the order of the specification, that the workspace can receive and whose
 * bounds the amount is within. Repeating it changes nothing. Throws the errors of `quoteAsset`; of several refusals, the one closest to success.
 */
export async function quoteFirstAsset(
  deps: QuoteAssetDeps,
  { workspaceId, invoiceId }: { readonly workspaceId: string; readonly invoiceId: string },
): Promise<void> {
  // One id for all simulations of the invoice: of several concurrent ones a single one chooses, and none chooses again.
  const opId = `first-lock:${invoiceId}`
  let worst: PaymeshError | null = null
  for (const asset of ASSET_IDS) {
    try {
      await quoteAsset(deps, { workspaceId, invoiceId, asset, opId })
      return
    } catch (error) {
      if (!(error instanceof PaymeshError)) throw error
      if (error.code === 'INVALID_STATE' && (await hasChosenAsset(deps, invoiceId))) return
      if (!isUnavailable(error)) throw error
      worst = moreTelling(worst, error)
    }
  }
  throw worst ?? new PaymeshError('NO_WALLET_FOR_ASSET')
}

/** Another caller, or an earlier try of this operation, chose an asset in the meantime. */
async function hasChosenAsset(deps: QuoteAssetDeps, invoiceId: string): Promise<boolean> {
  const invoice = await deps.invoices.findById(invoiceId)
  return invoice !== null && activePaymentMethod(invoice.state) !== null
}

function isUnavailable(error: PaymeshError): boolean {
  return UNAVAILABLE.includes(error.code)
}

function moreTelling(known: PaymeshError | null, next: PaymeshError): PaymeshError {
  const rank = (error: PaymeshError) => UNAVAILABLE.indexOf(error.code)
  return known === null || rank(next) > rank(known) ? next : known
}
