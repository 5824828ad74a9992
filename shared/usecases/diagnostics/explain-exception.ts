import { PaymeshError } from '#shared/contracts/errors.ts'
import { EXCEPTION_TITLES } from '#shared/contracts/exception-labels.ts'
import type { EvidenceRow, Worth } from '#shared/contracts/explanations.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import { activePaymentMethod, type PaymentMethod } from '#shared/domain/invoice/model.ts'
import { totals } from '#shared/domain/invoice/totals.ts'
import { formatFiat, formatSignedFiat, formatUnits } from '#shared/domain/money/money.ts'
import type { ExceptionEntry, Resolution } from '#shared/ports/exception-decisions.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { waysToAccept } from '#shared/usecases/exceptions/decide-exception.ts'
import { paymentInInbox } from '#shared/usecases/exceptions/payment-in-inbox.ts'
import { fiatMinor } from '#shared/usecases/rates/fiat-value.ts'
import { applySpread } from '#shared/usecases/rates/read-rate.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { paymentEvidence, sumEvidence } from './exception-evidence.ts'
import { exceptionSentence } from './exception-sentence.ts'
import { explainPayment, type PaymentExplanation } from './explain-payment.ts'

/** Dependencies of explaining an exception; it never writes. */
export type ExplainExceptionDeps = Uses<'decisions' | 'invoices' | 'payments' | 'cursors' | 'catalog' | 'rates'>

/** Everything an operator needs for a decision. */
export interface ExceptionExplanation {
  readonly entry: ExceptionEntry
  readonly title: string
  readonly sentence: string
  readonly invoice: Invoice | null
  readonly payment: (PaymentExplanation & { readonly invoiceId: string | null }) | null
  readonly evidence: EvidenceRow[]
  readonly worth: Worth | null
  readonly ways: Resolution[]
  /** The money is in another asset than the invoice's: accepting it needs a value in base units of this one. */
  readonly valueIn: { readonly symbol: string; readonly decimals: number; readonly due: string } | null
}

/** Gathers the evidence about one of a workspace's exceptions. Throws `NOT_FOUND` for an unknown or foreign one. */
export async function explainException(
  deps: ExplainExceptionDeps,
  input: { readonly workspace: Workspace; readonly mode: Mode; readonly exceptionId: string },
): Promise<ExceptionExplanation> {
  const entry = await deps.decisions.find(input.workspace.id, input.mode, input.exceptionId)
  if (entry === null) throw new PaymeshError('NOT_FOUND')
  const invoice = entry.invoiceId === null ? null : await deps.invoices.findById(entry.invoiceId)
  const [found] = entry.paymentKey === null ? [] : await deps.payments.findByKeys([entry.paymentKey])
  const stored = found === undefined ? undefined : paymentInInbox(found, input.workspace.id)
  const payment = stored === undefined ? null : await explained(deps, stored, invoice)
  const paymentMethod = invoice === null ? null : activePaymentMethod(invoice.state)
  const evidence =
    stored !== undefined && payment !== null
      ? paymentEvidence({ payment: stored, words: payment, invoice, catalog: deps.catalog })
      : sumEvidence(invoice)
  return {
    entry,
    title: EXCEPTION_TITLES[entry.kind],
    sentence: exceptionSentence({ entry, invoice, payment: stored ?? null, catalog: deps.catalog }),
    invoice,
    payment: payment === null || stored === undefined ? null : { ...payment, invoiceId: stored.invoiceId },
    evidence,
    worth: await worthOf(deps, input.workspace, invoice, paymentMethod, stored ?? null),
    ways: entry.closedAt === null ? waysToAccept(entry) : [],
    valueIn: foreignMoney(invoice, paymentMethod, stored ?? null),
  }
}

async function explained(deps: ExplainExceptionDeps, payment: Payment, invoice: Invoice | null) {
  const cursor = await deps.cursors.find(payment.mode, payment.network)
  const owner = payment.invoiceId === invoice?.terms.id ? invoice : null
  return explainPayment(payment, { invoice: owner?.state ?? null, cursor, catalog: deps.catalog })
}

function foreignMoney(
  invoice: Invoice | null,
  paymentMethod: PaymentMethod | null,
  payment: Payment | null,
): ExceptionExplanation['valueIn'] {
  if (invoice === null || paymentMethod === null || payment === null || payment.asset === paymentMethod.asset)
    return null
  const due = formatUnits(totals(invoice.state).dueBase, paymentMethod.decimals)
  return { symbol: paymentMethod.symbol, decimals: paymentMethod.decimals, due }
}

async function worthOf(
  deps: ExplainExceptionDeps,
  { policy }: Workspace,
  invoice: Invoice | null,
  paymentMethod: PaymentMethod | null,
  payment: Payment | null,
): Promise<Worth | null> {
  const quote = paymentMethod?.quotes.at(-1)
  if (invoice === null || paymentMethod === null || quote === undefined) return null
  if (payment !== null && payment.asset !== paymentMethod.asset) return null
  const base = payment?.amountBase ?? totals(invoice.state).receivedBase
  const { currency } = invoice.terms.fiat
  const atQuote = fiatMinor(base, paymentMethod.decimals, quote.fiatPerAsset, currency)
  const atQuoteText = formatFiat(atQuote, currency)
  try {
    // With the spread and the peso series of the quote that it is compared with: only the market makes a difference.
    const { arsSeries, spreadBps } = quote.provenance
    const { fiatPerAsset } = await deps.rates.rateFor({
      asset: paymentMethod.asset,
      fiat: currency,
      arsSeries: arsSeries ?? policy.arsSeries,
    })
    const now = fiatMinor(base, paymentMethod.decimals, applySpread(fiatPerAsset, spreadBps), currency)
    const difference = formatSignedFiat(now - atQuote, currency).replace('-', '−')
    return { currency, atQuote: atQuoteText, now: formatFiat(now, currency), difference }
  } catch (error) {
    if (!(error instanceof PaymeshError)) throw error
    return { currency, atQuote: atQuoteText, now: null, difference: null }
  }
}
