import { PaymeshError } from '#shared/contracts/errors.ts'
import { renewalRefusal, restBase } from '#shared/domain/invoice/decide.ts'
import type { InvoiceEvent } from '#shared/domain/invoice/invoice-event.ts'
import {
  activePaymentMethod,
  currentQuote,
  type Ms,
  type PaymentMethod,
  type Quote,
} from '#shared/domain/invoice/model.ts'
import { payableBase } from '#shared/domain/invoice/quote-window.ts'
import { needsNewAmount } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/money.ts'
import { ClaimTaken, type Invoice } from '#shared/ports/invoices.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { QuoteOffers } from '#shared/usecases/quotes/addresses.ts'
import { priceRequestedQuote, type QuoteRequest, takeWithin } from '#shared/usecases/quotes/prepare-quote.ts'
import {
  NO_PLACES,
  type Visitor,
  type VisitorBudget,
  type VisitorPlaces,
} from '#shared/usecases/quotes/visitor-budget.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { stillOwned } from '#shared/usecases/wallets/address-standing.ts'
import { requireOpenWorkspace } from '#shared/usecases/workspaces/require-open-workspace.ts'
import { type ApplyDeps, type ApplyResult, applyInvoiceEvent } from './apply-invoice-event.ts'
import { quoteEnd } from './quote-asset.ts'
import { refusalError } from './refusal-error.ts'

/** Taken amounts in a row that indicate a fault of their source. */
const CANDIDATES_MAX = 50
/** Quotes that are prepared again because a payment or another choice came meanwhile. */
const ROUNDS_MAX = 10

/** Dependencies of renewing a quote. */
export type RenewQuoteDeps = ApplyDeps &
  Uses<'workspaces' | 'catalog' | 'rates' | 'wallets'> & {
    readonly addresses: Pick<QuoteOffers, 'take'>
    readonly budget: VisitorBudget
  }

/** A payer's request for a new quote. */
export interface RenewQuoteInput {
  readonly invoiceId: string
  readonly opId: string
  readonly visitor: Visitor
  /** Called once before anything changes; throws when this payer renews too often. */
  readonly admit: () => Promise<void>
}

/** A quote can be renewed in its last third or after it ended: a payer cannot collect quotes and keep the best. */
export function isRenewable({ quotedAt, expiresAt }: Pick<Quote, 'quotedAt' | 'expiresAt'>, at: Ms): boolean {
  return expiresAt - at <= (expiresAt - quotedAt) / 3
}

/**
 * Appends a new quote on the same address and returns the invoice: for the whole price, or for the rest of a price of which a part was
 * paid; that part keeps the share that it paid. An invoice whose quote is still valid is returned unchanged, unless the amount identifies it and that quote's is not what is left. Where the amount identifies the invoice, the new quote claims another amount, and the old one stays
 * reserved; a visitor's renewal counts against the budget again. An address that another workspace proved since gets no new quote. Throws `NOT_FOUND`, `WORKSPACE_SUSPENDED`, `INVALID_STATE`,
 * `NO_WALLET_FOR_ASSET` (`VisitorBudgetSpent`), `RATES_UNAVAILABLE`, `VALIDATION_ERROR` for more than the chain can carry, and every error of `admit`.
 */
export async function renewQuote(deps: RenewQuoteDeps, { admit, ...input }: RenewQuoteInput): Promise<Invoice> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const invoice = await deps.invoices.findById(input.invoiceId)
    if (invoice === null) throw new PaymeshError('NOT_FOUND')
    if (invoice.lastOps.some((op) => op.opId === input.opId)) return invoice
    const workspace = await requireOpenWorkspace(deps, invoice.terms.workspaceId)
    const at = deps.clock.now()
    const paymentMethod = activePaymentMethod(invoice.state)
    const held = currentQuote(invoice.state)
    const refused = renewalRefusal(invoice.state, at)
    if (paymentMethod === null || held === null || refused !== null) throw refusalError(refused ?? 'no_open_price')
    if (!isRenewable(held, at) && !needsNewAmount(invoice.state, at)) return invoice
    await requireControl(deps, invoice, paymentMethod)
    if (round === 0) await admit()
    const result = await renewOnce(deps, input, () =>
      promise(deps, invoice, workspace, paymentMethod, at, input.visitor),
    )
    if (result.outcome === 'missing') throw new PaymeshError('NOT_FOUND')
    if (result.outcome !== 'refused') return result.invoice
    if (result.reason !== 'payment_methods_changed') throw refusalError(result.reason)
    // A refusal saves nothing, so the payment that came meanwhile may not be in the invoice yet.
    await applyInvoiceEvent(deps, { invoiceId: input.invoiceId, event: { type: 'payments_changed' }, opId: null })
  }
  throw refusalError('payment_methods_changed')
}

/** One renewal, with the next free amount while another invoice takes the one before. */
async function renewOnce(
  deps: RenewQuoteDeps,
  { invoiceId, opId }: Pick<RenewQuoteInput, 'invoiceId' | 'opId'>,
  prepare: () => ReturnType<typeof promise>,
): Promise<ApplyResult> {
  for (let candidate = 0; candidate < CANDIDATES_MAX; candidate += 1) {
    const { places, ...renewal } = await prepare()
    const event = { type: 'quote_renewed', draws: places.claim, ...renewal } as const
    try {
      return await applyInvoiceEvent(deps, { invoiceId, event, opId })
    } catch (error) {
      if (!(error instanceof ClaimTaken)) throw error
      deps.metrics.count('address_conflicts_total', { during: 'renew' })
    } finally {
      places.end()
    }
  }
  throw new Error(`no free amount for invoice ${invoiceId} among ${CANDIDATES_MAX} candidates`)
}

async function requireControl(
  { wallets }: Pick<RenewQuoteDeps, 'wallets'>,
  { terms: { workspaceId, mode } }: Invoice,
  { family, matchKey, asset }: PaymentMethod,
): Promise<void> {
  if (await stillOwned(wallets, { mode, family, matchKey, workspaceId })) return
  throw new PaymeshError('NO_WALLET_FOR_ASSET', { internal: `address_displaced ${mode}:${asset}` })
}

async function promise(
  deps: RenewQuoteDeps,
  invoice: Invoice,
  workspace: Workspace,
  paymentMethod: PaymentMethod,
  at: Ms,
  visitor: Visitor,
): Promise<
  Omit<Extract<InvoiceEvent, { readonly type: 'quote_renewed' }>, 'type' | 'draws'> & { readonly places: VisitorPlaces }
> {
  const { mode, fiat } = invoice.terms
  const info = deps.catalog.asset(paymentMethod.asset)
  const { arsSeries } = workspace.policy
  const rate = await deps.rates.rateFor({ asset: info.id, fiat: fiat.currency, arsSeries })
  const quoteEndsAt = quoteEnd(invoice, workspace, at)
  const request: QuoteRequest = { workspace, mode, asset: paymentMethod.asset, fiat, at, quoteEndsAt }
  const priced = priceRequestedQuote(request, info, rate)
  const { amountBase: wholeBase } = priced
  const rest = restBase(invoice.state, wholeBase)
  const leftBase = rest === null ? wholeBase : payableBase(paymentMethod, rest)
  const { claim, amountBase, places } = await claimFor(deps, paymentMethod, invoice, leftBase, { workspace, visitor })
  const amount = formatUnits(amountBase, info.decimals)
  const part = rest === null ? {} : { rest: { wholeBase, restBase: rest } }
  const { asset, matchKey } = paymentMethod
  return {
    asset,
    matchKey,
    quoteCount: paymentMethod.quotes.length,
    quote: { ...priced, amountBase, amount, ...part },
    claim,
    places,
  }
}

/** The address is already claimed; an amount on a shared address must be claimed again. */
async function claimFor(
  deps: RenewQuoteDeps,
  paymentMethod: PaymentMethod,
  { terms: { mode } }: Invoice,
  priceBase: bigint,
  { workspace, visitor }: { readonly workspace: Workspace; readonly visitor: Visitor },
): Promise<{ readonly claim: string; readonly amountBase: bigint; readonly places: VisitorPlaces }> {
  if (paymentMethod.hold?.kind !== 'amount')
    return { claim: paymentMethod.claim, amountBase: priceBase, places: NO_PLACES }
  const { family, matchKey } = paymentMethod
  const material = {
    id: `${mode}:${family}:address:${matchKey}`,
    mode,
    family,
    kind: 'address',
    sandbox: false,
  } as const
  // Each additional amount is unavailable to other invoices, so needless renewals count against the budget.
  const { taken, places } = await takeWithin(
    () => deps.budget.draw({ material, workspace, visitor, claims: true, network: null }),
    () => deps.addresses.take(material, deps.catalog.asset(paymentMethod.asset), priceBase, workspace.id),
  )
  return { claim: taken.claim, amountBase: taken.amountBase, places }
}
