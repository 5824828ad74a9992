import { PaymeshError } from '#shared/contracts/errors.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { hasOpenPrice, openPrice } from '#shared/domain/invoice/decide.ts'
import type { InvoiceEvent } from '#shared/domain/invoice/invoice-event.ts'
import { type InvoiceState, isHeld, type Ms, type PaymentMethod } from '#shared/domain/invoice/model.ts'
import { ClaimTaken, type Invoice } from '#shared/ports/invoices.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { PreparedPaymentMethod, QuotePreparer } from '#shared/usecases/quotes/prepare-quote.ts'
import type { Visitor } from '#shared/usecases/quotes/visitor-budget.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type ApplyDeps, type ApplyResult, applyInvoiceEvent } from './apply-invoice-event.ts'
import { refusalError } from './refusal-error.ts'

/** Taken candidates in a row that indicate a fault of the address source. */
const CANDIDATES_MAX = 50
/** Retries after another choice for the same invoice was faster. */
const ROUNDS_MAX = 10

/** Dependencies of choosing an asset for an invoice. */
export type QuoteAssetDeps = ApplyDeps &
  Uses<'workspaces'> & {
    readonly paymentMethods: QuotePreparer
  }

/** A payer's (or the simulation's) choice of asset. */
export interface QuoteAssetInput {
  /** If given, an invoice of another workspace is reported as unknown. */
  readonly workspaceId?: string
  readonly invoiceId: string
  readonly asset: AssetId
  readonly opId: string | null
  /** Who chooses; an additional address taken for them counts against the visitor budget. */
  readonly visitor?: Visitor
}

/**
 * Fixes asset, amount and address of an invoice and returns it. A quote of the asset that is still valid is returned again, and on another
 * network of a coin whose price is open that price goes on, with its end: switching networks never gives a second one. Otherwise
 * an address that the invoice already has is reused where the wallet allows it; a new one is claimed by the
 * invoice write itself, and a candidate that another invoice took first is replaced by the next. Throws `NOT_FOUND`,
 * `INVALID_STATE`, `NO_WALLET_FOR_ASSET`, `AMOUNT_BELOW_MINIMUM`, `VALIDATION_ERROR` for more than the chain can carry, or `RATES_UNAVAILABLE`.
 */
export async function quoteAsset(deps: QuoteAssetDeps, input: QuoteAssetInput): Promise<Invoice> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const invoice = await deps.invoices.findById(input.invoiceId)
    if (invoice === null) throw new PaymeshError('NOT_FOUND')
    if (input.workspaceId !== undefined && invoice.terms.workspaceId !== input.workspaceId) {
      throw new PaymeshError('NOT_FOUND')
    }
    if (input.opId !== null && invoice.lastOps.some((op) => op.opId === input.opId)) return invoice
    const result = await chooseOnce(deps, input, invoice)
    if (result.outcome === 'missing') throw new PaymeshError('NOT_FOUND')
    if (result.outcome !== 'refused') return result.invoice
    if (result.reason !== 'payment_methods_changed') throw refusalError(result.reason)
  }
  throw refusalError('payment_methods_changed')
}

/** The payment method whose latest quote is the open price of its coin at a time; null when there is none. */
export function methodWithQuote(
  state: Pick<InvoiceState, 'paymentMethods'>,
  asset: AssetId,
  at: Ms,
): PaymentMethod | null {
  const paymentMethod = state.paymentMethods.findLast((other) => isHeld(other) && other.asset === asset)
  return paymentMethod !== undefined && hasOpenPrice(state.paymentMethods, paymentMethod, at) ? paymentMethod : null
}

/** A quote never outlives an invoice whose lifetime the merchant chose; otherwise the invoice ends with the quote. */
export function quoteEnd(invoice: Invoice, workspace: Workspace, at: Ms): Ms {
  const end = at + workspace.policy.quoteMs
  return invoice.state.endsWithQuote ? end : Math.min(end, invoice.state.expiresAt)
}

async function chooseOnce(deps: QuoteAssetDeps, input: QuoteAssetInput, invoice: Invoice): Promise<ApplyResult> {
  const { terms, state } = invoice
  const workspace = await deps.workspaces.findById(terms.workspaceId)
  if (workspace === null) throw new Error(`invoice ${input.invoiceId} belongs to no workspace`)
  const at = deps.clock.now()
  // A `new` or `pending` invoice past its end only waits for its expiry; it must not get another quote.
  if (at >= state.expiresAt) throw refusalError('no_open_price')
  const held = methodWithQuote(state, input.asset, at)
  if (held !== null) {
    return await apply(deps, input, { type: 'payment_method_resumed', asset: held.asset, matchKey: held.matchKey })
  }
  const price = openPrice(state.paymentMethods, deps.catalog.asset(input.asset).symbol, at)
  const prepared = await deps.paymentMethods.prepare({
    workspace,
    mode: terms.mode,
    asset: input.asset,
    fiat: terms.fiat,
    at,
    quoteEndsAt: quoteEnd(invoice, workspace, at),
    ...(price !== null && { price }),
    held: state.paymentMethods,
    endsWithQuote: state.endsWithQuote,
    ...(input.visitor !== undefined && drawsOnBudget(invoice) && { visitor: input.visitor }),
  })
  return await applyPaymentMethod(deps, input, prepared, state.paymentMethods.length)
}

/**
 * Whether an additional address counts against the visitor budget: always on invoices created by visitors, and beyond the first
 * one on invoices created through the API.
 */
function drawsOnBudget({ terms, state }: Invoice): boolean {
  return terms.source === 'link' || state.paymentMethods.some(isHeld)
}

async function applyPaymentMethod(
  deps: QuoteAssetDeps,
  input: QuoteAssetInput,
  first: PreparedPaymentMethod,
  methodCount: number,
): Promise<ApplyResult> {
  let prepared = first
  try {
    for (let candidate = 0; candidate < CANDIDATES_MAX; candidate += 1) {
      try {
        return await apply(deps, input, { type: 'asset_chosen', paymentMethod: prepared.paymentMethod, methodCount })
      } catch (error) {
        if (!(error instanceof ClaimTaken)) throw error
        deps.metrics.count('address_conflicts_total', { during: 'paymentMethod' })
        prepared = await (error.isDraw ? prepared.redraw() : prepared.next())
      }
    }
  } finally {
    prepared.end()
  }
  throw new Error(`no free address for invoice ${input.invoiceId} among ${CANDIDATES_MAX} candidates`)
}

const apply = (deps: QuoteAssetDeps, { invoiceId, opId }: QuoteAssetInput, event: InvoiceEvent): Promise<ApplyResult> =>
  applyInvoiceEvent(deps, { invoiceId, event, opId })
