import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Check } from '#shared/contracts/explanations.ts'
import type { InvoiceLookups } from '#shared/db/invoices/admin-invoice-lookups.ts'
import type { InvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import type { InvoiceStatus, Mode } from '#shared/domain/enumerations.ts'
import { activePaymentMethod, type PaymentMethod } from '#shared/domain/invoice/model.ts'
import { isSettled } from '#shared/domain/invoice/totals.ts'
import { formatFiat, formatUnits } from '#shared/domain/money/money.ts'

import { NETWORKS } from '#shared/domain/networks.ts'
import { readPasted } from '#shared/domain/pasted-text.ts'
import type { InvoiceSearch } from '#shared/ports/invoice-lookups.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import { type GuessAddress, readInvoiceSearch } from '#shared/usecases/invoices/invoice-search.ts'
import { paymentsConcerning } from '#shared/usecases/payments/address-owners.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { Answer } from './explain-answer.ts'
import { type ExplainInvoiceDeps, explainInvoice, type InvoiceExplanation } from './explain-invoice.ts'
import {
  candidateNetworks,
  type FindTransactionDeps,
  type FoundTransaction,
  findTransaction,
} from './find-transaction.ts'
import { transactionAnswer } from './transaction-answer.ts'

/** Unmatched payments that are read at most for an address. */
const UNMATCHED_MAX = 20
const FOUND_MAX = 10

/** Dependencies of answering a question; it never writes. */
export type ExplainQuestionDeps = ExplainInvoiceDeps &
  FindTransactionDeps &
  Uses<'invoices' | 'payments' | 'catalog' | 'decisions'> & {
    readonly lookups: Pick<InvoiceLookups, 'page'>
    readonly guessAddress: GuessAddress
  }

/** The question and the workspace it comes from. */
export interface Question {
  readonly workspaceId: string
  readonly mode: Mode
  /** A transaction id of any network, an address, an invoice's number or id, an order's reference. */
  readonly text: string
}

/**
 * Answers "why did this count, or not?" for anything a person can paste: a verdict in one sentence, the checks behind it, and possible
 * next steps. Reveals nothing about other workspaces: their data is treated as unknown. Never throws for meaningless text.
 */
export async function explainQuestion(deps: ExplainQuestionDeps, input: Question): Promise<Answer> {
  const question = { ...input, text: readPasted(input.text) }
  const networks = candidateNetworks(deps.catalog, question.text)
  if (networks.length > 0) {
    const found = await findTransaction(deps, { ...question, networks })
    if (found.known !== null || !isAddress(deps, question)) return await aboutTransaction(deps, question, found)
  }
  return await aboutInvoices(deps, question, readInvoiceSearch(deps.guessAddress, question.mode, question.text))
}

const isAddress = ({ guessAddress }: ExplainQuestionDeps, { mode, text }: Question): boolean =>
  guessAddress(mode, text).length > 0

async function aboutTransaction(
  deps: ExplainQuestionDeps,
  { workspaceId }: Question,
  found: FoundTransaction,
): Promise<Answer> {
  const { own } = found
  const invoice = own?.invoiceId == null ? null : await deps.invoices.findById(own.invoiceId)
  const exception = own === null ? null : await deps.decisions.findOpenByPayment(workspaceId, own.key)
  return transactionAnswer({ found, invoice, exceptionId: exception?.id ?? null, catalog: deps.catalog })
}

async function aboutInvoices(deps: ExplainQuestionDeps, question: Question, search: InvoiceSearch): Promise<Answer> {
  const { workspaceId, mode } = question
  const filters = { status: null, createdFrom: null, createdTo: null, asset: null, source: null, flag: null }
  const page = { workspaceId, mode, search, ...filters, limit: FOUND_MAX, beforeId: null }
  const { invoices } = await deps.lookups.page(page)
  const [first] = invoices
  if (search.kind === 'address') return await aboutAddress(deps, question, invoices)
  if (first === undefined) return await aboutPayment(deps, question)
  return invoiceAnswer(deps, first, await explainInvoice(deps, first.terms.id), invoices.slice(1))
}

/** People paste payment ids as well. */
async function aboutPayment(deps: ExplainQuestionDeps, question: Question): Promise<Answer> {
  const id = question.text.trim().toLowerCase()
  const payment = await deps.payments.findById(id)
  const own = payment !== null && payment.workspaceId === question.workspaceId && payment.mode === question.mode
  if (!own || payment.txHash === null) return nothingFound()
  const found = await findTransaction(deps, { ...question, text: payment.txHash, networks: [payment.network] })
  return await aboutTransaction(deps, question, found)
}

async function aboutAddress(
  deps: ExplainQuestionDeps,
  question: Question,
  invoices: readonly Invoice[],
): Promise<Answer> {
  const matchKeys = deps.guessAddress(question.mode, question.text).map(({ matchKey }) => matchKey)
  const unheld = await unheldMoney(deps, question, matchKeys)
  const [first] = invoices
  if (first === undefined) {
    return {
      ...nothingFound(),
      verdict: 'not_yours',
      title: 'This address was never used for an invoice',
      sentence: `No invoice in ${question.mode} mode used it. It may belong to another workspace or to the other mode.`,
      checks: [{ ok: false, title: 'No invoice used it', detail: question.text.trim() }],
    }
  }
  const known = await explainInvoice(deps, first.terms.id)
  const answer = invoiceAnswer(deps, first, known, invoices.slice(1))
  const unmatchedTransfers: readonly Check[] = unheld.map(({ txHash, state }) => ({
    ok: null,
    title: 'Unexpected payment to this address',
    detail: `${txHash ?? 'no transaction'}, ${state}. Trace that transaction for details.`,
  }))
  return { ...answer, checks: [...answer.checks, ...unmatchedTransfers] }
}

/** Unmatched money on addresses that the workspace owns now, whatever invoices used them before. */
async function unheldMoney(deps: ExplainQuestionDeps, { workspaceId, mode }: Question, matchKeys: readonly string[]) {
  const found = await deps.payments.listUnheld(mode, matchKeys, UNMATCHED_MAX)
  const networks = [...new Set(found.map(({ network }) => network))]
  const own = await Promise.all(
    networks.map((network) =>
      paymentsConcerning(
        deps,
        workspaceId,
        found.filter((payment) => payment.network === network),
      ),
    ),
  )
  return own.flat()
}

/** Status labels as the pages show them. */
const STATUS_LABELS: Readonly<Record<InvoiceStatus, string>> = {
  new: 'no coin chosen yet',
  pending: 'awaiting payment',
  partial: 'partly paid',
  confirming: 'confirming',
  paid: 'paid',
  overpaid: 'overpaid',
  expired: 'expired',
  cancelled: 'cancelled',
}

function invoiceAnswer(
  { catalog }: Pick<ExplainQuestionDeps, 'catalog'>,
  invoice: Invoice,
  known: InvoiceExplanation,
  others: readonly Invoice[],
): Answer {
  const { terms, state } = invoice
  const paid = isSettled(state)
  const paymentMethod = activePaymentMethod(state)
  const { sums, chain } = known
  const name = `Invoice #${terms.number}`
  const price = `${formatFiat(terms.fiat.minor, terms.fiat.currency)} ${terms.fiat.currency}`
  const arrived = known.payments.map(
    ({ amount, amountBase, asset, words, counted }): Check => ({
      ok: counted,
      title:
        amount === null || asset === null
          ? `${amountBase} base units of an unknown token received`
          : `${amount} ${catalog.asset(asset).symbol} received`,
      detail: words,
    }),
  )
  const checks: Check[] = [
    { ok: true, title: `${name} is for ${price}`, detail: `Created ${known.createdAt}` },
    paymentMethod === null
      ? { ok: false, title: 'No coin chosen', detail: 'No address was shown to the customer' }
      : {
          ok: true,
          title: `Customer chose ${paymentMethod.symbol} on ${NETWORKS[paymentMethod.network].name}`,
          detail: `Address ${paymentMethod.address}`,
        },
    ...(arrived.length > 0 || paymentMethod === null
      ? arrived
      : [{ ok: false, title: 'Nothing received', detail: scannedText(chain) }]),
    { ok: paid, title: paid ? 'Paid' : 'Not paid yet', detail: known.deadline },
  ]
  const opened = known.openExceptions.map(({ id, detail }) => {
    return { kind: 'open_exception', title: 'Resolve the exception', detail, id } as const
  })
  const alike = others.map(({ terms: other }) => {
    return { kind: 'open_invoice', title: `Invoice #${other.number}`, detail: 'Also matches', id: other.id } as const
  })
  return {
    verdict: paid ? 'invoice_paid' : 'invoice_unpaid',
    tone: paid ? 'good' : state.status === 'confirming' ? 'wait' : 'plain',
    title: `${name} ${state.status === 'new' ? 'has ' : 'is '}${STATUS_LABELS[state.status]}`,
    sentence: known.conclusion,
    checks,
    next: [
      { kind: 'open_invoice', title: `Open ${name}`, detail: missingText(paymentMethod, sums.missing), id: terms.id },
      ...opened,
      ...alike,
    ],
    transfer: null,
    invoiceId: terms.id,
    looked: [],
  }
}

function missingText(paymentMethod: PaymentMethod | null, missingBase: string): string {
  if (paymentMethod === null) return 'No coin chosen yet'
  const missing = BigInt(missingBase)
  return missing === 0n
    ? 'Nothing left to pay'
    : `${formatUnits(missing, paymentMethod.decimals)} ${paymentMethod.symbol} short`
}

function scannedText(chain: InvoiceExplanation['chain']): string {
  if (chain === null || !chain.hasNode) return 'No node is connected for this network: you can only simulate payments'
  return `${NETWORKS[chain.network].name} is scanned up to block ${chain.height ?? '-'}, ${chain.lagBlocks ?? 0} behind its node`
}

function nothingFound(): Answer {
  return {
    verdict: 'not_found',
    tone: 'plain',
    title: 'Nothing found',
    sentence:
      'This isn’t a transaction ID, address, invoice number or order ID in this workspace and mode. It may belong to another workspace or to the other mode.',
    checks: [],
    next: [],
    transfer: null,
    invoiceId: null,
    looked: [],
  }
}

/** Throws `NOT_FOUND` unless the invoice is the workspace's. */
export async function requireOwnInvoice(
  deps: { readonly invoices: Pick<InvoiceRepository, 'findInWorkspace'> },
  scope: { readonly workspaceId: string; readonly mode: Mode; readonly invoiceId: string },
): Promise<Invoice> {
  const invoice = await deps.invoices.findInWorkspace(scope.workspaceId, scope.mode, scope.invoiceId)
  if (invoice === null) throw new PaymeshError('NOT_FOUND')
  return invoice
}
