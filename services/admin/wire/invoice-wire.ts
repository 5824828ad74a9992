import { z } from 'zod'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'
import { activePaymentMethod, type InvoiceState } from '#shared/domain/invoice/model.ts'
import { isSimulatable } from '#shared/domain/invoice/plan-simulation.ts'
import { isLive, isSettled, totals } from '#shared/domain/invoice/totals.ts'
import { formatFiat, formatUnits } from '#shared/domain/money/money.ts'
import { reportedMinor } from '#shared/domain/reports/reporting-value.ts'
import type { InvoiceNote } from '#shared/ports/invoice-notes.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { InvoiceExplanation } from '#shared/usecases/diagnostics/explain-invoice.ts'
import { type invoiceRowToWire, invoiceRowWire, paymentToWire, paymentWire } from './money-wire.ts'
import { personOf, refundableWire, refundWire } from './refund-wire.ts'

/** An operator's note. */
export const noteWire = z.object({ id: z.string(), by: z.string(), at: z.number(), text: z.string().nullable() })

/** An operator's note, without the prefix of its author. */
export const noteToWire = ({ opId, by, at, text }: InvoiceNote): z.infer<typeof noteWire> => ({
  ...{ id: opId, by: personOf(by), at, text },
})

/** One invoice with all data of its page. Times are milliseconds. */
export const invoiceDetailWire = invoiceRowWire.extend({
  version: z.number(),
  /** The price in the workspace's reporting currency of its creation; null without a stored rate. */
  reporting: z
    .object({ currency: z.enum(FIAT_CODES), amount: z.string(), rate: z.string(), at: z.number() })
    .nullable(),
  /** One or two sentences that summarise it. */
  sentence: z.string(),
  tone: z.enum(['good', 'wait', 'bad', 'plain']),
  paidAt: z.number().nullable(),
  updatedAt: z.number(),
  description: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  successUrl: z.string().nullable(),
  cancelUrl: z.string().nullable(),
  paymentLinkId: z.string().nullable(),
  productId: z.string().nullable(),
  checkoutUrl: z.string(),
  receiptUrl: z.string(),
  receiving: z
    .object({
      address: z.string(),
      requiredConfirmations: z.number(),
      needsFinality: z.boolean(),
      tolerance: z.string(),
      lateGraceMinutes: z.number(),
      lateDriftBps: z.number(),
      otherMethods: z.number(),
    })
    .nullable(),
  rate: z
    .object({
      fiatPerAsset: z.string(),
      quotedAt: z.number(),
      expiresAt: z.number(),
      snapshotAt: z.number(),
      sources: z.array(z.string()),
      fxSources: z.array(z.string()),
      spreadBps: z.number(),
      quotes: z.number(),
    })
    .nullable(),
  deadline: z.string(),
  payments: z.array(
    paymentWire.extend({ confirmations: z.number(), words: z.string(), eligible: z.boolean(), invoiced: z.boolean() }),
  ),
  exceptions: z.array(z.object({ id: z.string(), kind: z.string(), detail: z.string() })),
  refunds: z.array(refundWire),
  /** Of operators, oldest first; a text is null once it was erased with the customer. */
  notes: z.array(noteWire),
  /** Suggested refund in units of the chosen coin: see `suggestRefund`. Null when nothing is left to refund. */
  refundSuggestion: z.string().nullable(),
  refundable: z.array(refundableWire),
  /** Allowed actions; null = allowed, otherwise the reason. */
  may: z.object({ cancel: z.string().nullable(), simulate: z.string().nullable(), refund: z.string().nullable() }),
})
export type InvoiceDetailWire = z.infer<typeof invoiceDetailWire>

type Names = Parameters<typeof invoiceRowToWire>[1] & Parameters<typeof paymentToWire>[1]

/** What the page of an invoice shows beside the invoice. */
interface DetailParts {
  readonly known: InvoiceExplanation
  readonly payments: readonly Payment[]
  readonly refunds: InvoiceDetailWire['refunds']
  readonly refundSuggestion: bigint
  readonly refundable: InvoiceDetailWire['refundable']
  readonly notes: readonly InvoiceNote[]
  readonly names: Names
  readonly checkoutBaseUrl: string
}

/** The data of an invoice's page in addition to its row in a list; the output of the procedure leaves out the rest of terms and state. */
export function invoiceDetailToWire(
  invoice: Invoice,
  row: ReturnType<typeof invoiceRowToWire>,
  parts: DetailParts,
): InvoiceDetailWire {
  const { terms, state } = invoice
  const { known, payments, refunds, names, checkoutBaseUrl } = parts
  const page = `${checkoutBaseUrl}/i/${terms.id}`
  const explained = [...known.payments, ...known.unheldPayments]
  return {
    ...terms,
    ...state,
    ...row,
    reporting: reportingToWire(terms),
    ...sentenceOf(invoice, parts),
    checkoutUrl: page,
    receiptUrl: `${page}/receipt`,
    ...paymentMethodToWire(invoice),
    deadline: known.deadline,
    payments: payments.map((payment) => {
      const reported = explained.find(({ id }) => id === payment.id)
      return {
        ...paymentToWire(payment, names),
        confirmations: reported?.confirmations ?? 0,
        words: reported?.words ?? '',
        eligible: reported?.eligible ?? false,
        invoiced: payment.invoiceId === terms.id,
      }
    }),
    exceptions: known.openExceptions.map(({ id, kind, detail }) => ({ id, kind, detail })),
    refunds,
    notes: parts.notes.map(noteToWire),
    refundSuggestion: suggestionText(state, parts.refundSuggestion),
    refundable: parts.refundable,
    may: { ...mayOf(invoice), refund: parts.refundable.length > 0 ? null : 'There is nothing to refund.' },
  }
}

function reportingToWire(terms: Invoice['terms']): InvoiceDetailWire['reporting'] {
  const { reporting } = terms
  const minor = reporting === undefined ? null : reportedMinor(terms, reporting.currency)
  if (reporting === undefined || minor === null) return null
  return { ...reporting, amount: formatFiat(minor, reporting.currency) }
}

function sentenceOf(
  { state }: Invoice,
  { known, payments, refunds }: Pick<DetailParts, 'known' | 'payments' | 'refunds'>,
): Pick<InvoiceDetailWire, 'sentence' | 'tone'> {
  if (!isSettled(state) || activePaymentMethod(state) === null) {
    const tone = state.exceptions.length > 0 ? 'bad' : state.status === 'confirming' ? 'wait' : 'plain'
    return { sentence: known.conclusion, tone }
  }
  return { sentence: settledSentence(state, payments, refunds), tone: 'good' }
}

function paymentMethodToWire({ state }: Invoice): Pick<InvoiceDetailWire, 'receiving' | 'rate'> {
  const paymentMethod = activePaymentMethod(state)
  const quote = paymentMethod?.quotes.at(-1)
  if (paymentMethod === null || quote === undefined) return { receiving: null, rate: null }
  const { policy } = paymentMethod
  return {
    receiving: {
      ...paymentMethod,
      needsFinality: paymentMethod.needsFinality === true,
      tolerance: formatUnits(policy.toleranceBase, paymentMethod.decimals),
      lateGraceMinutes: Math.floor(policy.lateGraceMs / 60_000),
      lateDriftBps: policy.lateDriftBps,
      otherMethods: state.paymentMethods.length - 1,
    },
    rate: {
      ...quote,
      ...quote.provenance,
      sources: [...quote.provenance.sources],
      fxSources: [...quote.provenance.fxSources],
      quotes: paymentMethod.quotes.length,
    },
  }
}

function suggestionText(state: Invoice['state'], base: bigint): string | null {
  const paymentMethod = activePaymentMethod(state)
  return paymentMethod === null || base === 0n ? null : formatUnits(base, paymentMethod.decimals)
}

const CANCELLABLE = ['new', 'pending', 'expired']

function mayOf({ terms, state }: Invoice): Omit<InvoiceDetailWire['may'], 'refund'> {
  const received = totals(state).receivedBase > 0n
  const cancel = CANCELLABLE.includes(state.status)
    ? null
    : `This invoice is ${state.status}, so it can’t be cancelled.`
  const live = terms.mode === 'live' ? 'You can only simulate payments in test mode.' : null
  const simulate =
    state.status === 'new' || isSimulatable(state) ? null : 'This invoice no longer accepts simulated payments.'
  return {
    cancel: received ? 'This invoice has received funds, so it can’t be cancelled.' : cancel,
    simulate: live ?? simulate,
  }
}

type RefundWords = Pick<z.infer<typeof refundWire>, 'status' | 'amount' | 'symbol'>

/**
 * What came of the money of a paid or overpaid invoice, in a few sentences: never more than was received, money in another coin as what it is, what a
 * reorganization took back, and what was sent back.
 */
export function settledSentence(
  state: InvoiceState,
  payments: readonly Pick<Payment, 'key' | 'asset'>[],
  refunds: readonly RefundWords[],
): string {
  const method = activePaymentMethod(state)
  if (method === null) return ''
  const { dueBase, settledBase } = totals(state)
  const units = (base: bigint) => `${formatUnits(base, method.decimals)} ${method.symbol}`
  const counted = state.ledger.filter((row) => row.counted)
  const confirmed = counted.filter((row) => row.state === 'confirmed')
  const many = `${confirmed.length} ${confirmed.length === 1 ? 'payment' : 'payments'}`
  const others = new Set(payments.flatMap(({ key, asset }) => (asset === method.asset ? [] : key)))
  const isStated = confirmed.some((row) => row.acceptedBase !== null && others.has(row.payment))
  const of = `${formatUnits(settledBase, method.decimals)} of ${units(dueBase)}`
  const how = isStated
    ? `Money in another coin counts, at a stated value: ${of} in ${many}.`
    : `${of} confirmed in ${many}.`
  return [leadOf(state, counted, settledBase - dueBase, units), how, ...refundWords(refunds)].join(' ')
}

function leadOf(
  { status, underpaidAccepted }: Pick<InvoiceState, 'status' | 'underpaidAccepted'>,
  counted: InvoiceState['ledger'],
  above: bigint,
  units: (base: bigint) => string,
): string {
  if (above < 0n && counted.some((row) => !isLive(row))) return 'Paid, but a reorganization took money back.'
  if (underpaidAccepted) return 'Paid: a smaller amount was accepted.'
  return above > 0n && status === 'overpaid' ? `Overpaid by ${units(above)}:` : 'Paid in full.'
}

function refundWords(refunds: readonly RefundWords[]): readonly string[] {
  const sent = refunds.filter(({ status }) => status === 'sent').map(({ amount, symbol }) => `${amount} ${symbol}`)
  return sent.length === 0 ? [] : [`Refunded: ${sent.join(' and ')}.`]
}
