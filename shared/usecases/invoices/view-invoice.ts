import type {
  BooksView,
  CoinView,
  FiatView,
  HintView,
  InvoiceView,
  PaymentMethodView,
  PaymentView,
} from '#shared/contracts/checkout/invoice-view.ts'
import { booksOf } from '#shared/domain/books/invoice-books.ts'
import { type BookedPayment, type Movement, movementsOf } from '#shared/domain/books/movements.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { quoteRefusal, renewalRefusal } from '#shared/domain/invoice/decide.ts'
import {
  activePaymentMethod,
  type InvoiceState,
  type Ms,
  type PaymentMethod,
  payableNetworks,
} from '#shared/domain/invoice/model.ts'
import { latestQuote } from '#shared/domain/invoice/quote-window.ts'
import { needsNewAmount, totals } from '#shared/domain/invoice/totals.ts'
import { displayUnits } from '#shared/domain/money/display.ts'
import { formatFiat } from '#shared/domain/money/money.ts'
import { type Invoice, ledgerKeys } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { confirmationWait } from '#shared/usecases/networks/confirmation-wait.ts'
import { knownUntil } from '#shared/usecases/networks/known-until.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { viewMerchant } from '#shared/usecases/workspaces/view-merchant.ts'
import { keepsHints } from './note-payment-hint.ts'
import { paymentRequest } from './present-invoice.ts'

/** Payments shown to a payer at most; of more, the newest are shown. */
const PAYMENTS_MAX = 20

/** Dependencies of showing an invoice to its payer. */
export type ViewInvoiceDeps = Uses<
  'invoices' | 'payments' | 'refunds' | 'hints' | 'cursors' | 'workspaces' | 'catalog' | 'clock'
>

/**
 * What a payer with the invoice's link may see: names, sums and transfers, but no metadata, customer, other ids or
 * data of other invoices. Null for an unknown id.
 */
export async function viewInvoice(deps: ViewInvoiceDeps, invoiceId: string): Promise<InvoiceView | null> {
  const invoice = await deps.invoices.findById(invoiceId)
  if (invoice === null) return null
  const { terms, state } = invoice
  const [workspace, stored] = await Promise.all([
    deps.workspaces.findById(terms.workspaceId),
    // The ledger has at most a hundred rows; what else strangers sent is not shown.
    deps.payments.listAmong(invoiceId, ledgerKeys(invoice)),
  ])
  if (workspace === null) throw new Error(`invoice ${invoiceId} belongs to no workspace`)
  const payments = await viewPayments(deps, invoice, stored)
  const at = deps.clock.now()
  const open = workspace.status !== 'suspended'
  const paymentMethod = activePaymentMethod(state)
  return {
    id: terms.id,
    mode: terms.mode,
    number: terms.number,
    status: state.status,
    version: state.version + invoice.refundSeq,
    merchant: viewMerchant(workspace),
    orderId: terms.orderId,
    description: terms.description,
    fiat: { value: formatFiat(terms.fiat.minor, terms.fiat.currency), currency: terms.fiat.currency },
    createdAt: state.createdAt,
    expiresAt: state.expiresAt,
    paidAt: state.paidAt,
    successUrl: terms.successUrl,
    cancelUrl: terms.cancelUrl,
    paymentLinkId: terms.paymentLinkId,
    paymentMethod: paymentMethod === null ? null : viewPaymentMethod(deps, invoice, paymentMethod, at),
    ...viewSums(deps, state, paymentMethod),
    books: await viewBooks(deps, invoice, stored),
    payments,
    hints: await viewHints(deps, invoice, stored, at),
    isPaidLate: state.paidLate,
    isAcceptedShort: state.underpaidAccepted,
    isUnread: await isUnread(deps, invoice, at),
    canChoose: open && quoteRefusal(state, at) === null,
    canRenew: open && renewalRefusal(state, at) === null && isRenewalWorthIt(state, paymentMethod, at),
  }
}

/** An operator may end an invoice of a stuck network before its blocks are read; the page must not claim that nothing arrived. */
async function isUnread(
  { cursors, catalog }: ViewInvoiceDeps,
  { terms: { mode }, state }: Invoice,
  at: Ms,
): Promise<boolean> {
  const { status, expiresAt } = state
  if (at < expiresAt || (status !== 'pending' && status !== 'partial' && status !== 'expired')) return false
  const unread = await Promise.all(
    payableNetworks(state).map(async (network) => {
      if (mode === 'test' && !catalog.hasNode(network, mode)) return false
      const cursor = await cursors.find(mode, network)
      return cursor === null || knownUntil(cursor, catalog.blockTimeMs(network, mode)) < expiresAt
    }),
  )
  return unread.includes(true)
}

/** Renewal is pointless for a quote that lasts to the end of the invoice anyway, and whose amount is what is left. */
function isRenewalWorthIt(state: InvoiceState, paymentMethod: PaymentMethod | null, at: Ms): boolean {
  if (paymentMethod === null) return false
  return state.endsWithQuote || latestQuote(paymentMethod).expiresAt < state.expiresAt || needsNewAmount(state, at)
}

function viewSums(
  { catalog }: Pick<ViewInvoiceDeps, 'catalog'>,
  state: InvoiceState,
  paymentMethod: PaymentMethod | null,
): Pick<InvoiceView, 'received' | 'excess'> {
  if (paymentMethod === null) return { received: '0', excess: '0' }
  const { receivedBase, settledBase, dueBase } = totals(state)
  const excessBase = state.status === 'overpaid' && settledBase > dueBase ? settledBase - dueBase : 0n
  const info = catalog.asset(paymentMethod.asset)
  return {
    received: displayUnits(receivedBase, info),
    excess: excessBase === 0n ? '0' : displayUnits(excessBase, info),
  }
}

function viewPaymentMethod(
  { catalog }: ViewInvoiceDeps,
  { terms, state }: Invoice,
  paymentMethod: PaymentMethod,
  at: Ms,
): PaymentMethodView {
  const { mode } = terms
  const info = catalog.asset(paymentMethod.asset)
  const quote = latestQuote(paymentMethod)
  const contract = catalog.contract(paymentMethod.asset, mode)
  const { amountBase: remainingBase, uri } = paymentRequest(catalog, state, at)
  const remaining = remainingBase === 0n ? '0' : displayUnits(remainingBase, info)
  const { address } = paymentMethod
  const chainId = catalog.chainId(paymentMethod.network, mode)
  const chain = catalog.walletChain(paymentMethod.network, mode)
  return {
    asset: paymentMethod.asset,
    symbol: paymentMethod.symbol,
    network: paymentMethod.network,
    family: paymentMethod.family,
    isToken: contract !== null,
    address,
    due: displayUnits(totals(state).dueBase, info),
    remaining,
    remainingBase: remainingBase.toString(),
    uri: uri === '' || uri === address ? null : uri,
    isExact: paymentMethod.hold?.kind === 'amount',
    requiredConfirmations: paymentMethod.requiredConfirmations,
    blockTimeMs: catalog.blockTimeMs(paymentMethod.network, mode),
    needsFinality: paymentMethod.needsFinality === true,
    confirmMs: confirmationWait(
      catalog,
      { network: paymentMethod.network, mode },
      {
        confirmations: paymentMethod.requiredConfirmations,
        finality: paymentMethod.needsFinality === true,
      },
    ),
    fiatPerAsset: quote.fiatPerAsset,
    quotedAt: quote.quotedAt,
    // An amount by which nobody would find the payment is not asked for.
    quoteEndsAt: needsNewAmount(state, at) ? Math.min(state.updatedAt, quote.expiresAt) : quote.expiresAt,
    evm: chainId === null ? null : { chainId, contract, addition: catalog.publicNetwork(paymentMethod.network, mode) },
    browser: chain === null ? null : { chain, contract },
  }
}

/** The transfers in the invoice's ledger, oldest first; dust and unknown tokens are left out. */
async function viewPayments(
  deps: ViewInvoiceDeps,
  { terms, state }: Invoice,
  stored: readonly Payment[],
): Promise<readonly PaymentView[]> {
  const rows = new Map(state.ledger.map((row) => [row.payment, row]))
  const known = stored.filter(({ key, asset }) => rows.has(key) && asset !== null)
  const shown = known.sort((left, right) => left.firstSeenAt - right.firstSeenAt).slice(-PAYMENTS_MAX)
  const heights = new Map<string, number>()
  for (const network of new Set(shown.filter(({ block }) => block !== null).map((payment) => payment.network))) {
    const cursor = await deps.cursors.find(terms.mode, network)
    if (cursor !== null) heights.set(network, cursor.height)
  }
  return shown.flatMap((payment) => {
    const row = rows.get(payment.key)
    if (row === undefined || payment.asset === null) return []
    const info = deps.catalog.asset(payment.asset)
    const { txHash, network, requiredConfirmations } = payment
    return [
      {
        amount: displayUnits(payment.amountBase, info),
        symbol: info.symbol,
        state: payment.state,
        confirmations: confirmationsOf(payment, heights.get(network) ?? null),
        requiredConfirmations,
        txHash,
        explorerUrl: txHash === null ? null : deps.catalog.explorerTxUrl(network, terms.mode, txHash),
        seenAt: payment.firstSeenAt,
        isLate: row.late,
        isSimulated: row.simulated,
        uncounted: row.counted ? null : row.uncountedReason,
      },
    ]
  })
}

/** Announced transactions that no stored payment has; none once nothing is expected any more. */
async function viewHints(
  { hints, catalog }: ViewInvoiceDeps,
  invoice: Invoice,
  stored: readonly Payment[],
  at: Ms,
): Promise<readonly HintView[]> {
  if (!keepsHints(invoice, at) || activePaymentMethod(invoice.state) === null) return []
  const found = new Set(stored.map(({ txHash }) => txHash))
  const announced = await hints.listByInvoice(invoice.terms.id)
  return announced
    .filter(({ txHash }) => !found.has(txHash))
    .map(({ txHash, network, mode, at }) => ({ txHash, explorerUrl: catalog.explorerTxUrl(network, mode, txHash), at }))
}

/** Counted from the committed cursor, never from a node's head, and below the required number until it is confirmed. */
function confirmationsOf({ block, state, requiredConfirmations }: Payment, height: number | null): number {
  if (state === 'confirmed') return requiredConfirmations
  if (block === null) return 0
  const counted = height === null ? 1 : Math.max(1, height - block.height + 1)
  return Math.min(counted, requiredConfirmations)
}

/** Confirmed money of an invoice beside its price, with what was sent back. `stored` are the payments of its ledger. */
async function viewBooks(
  deps: Uses<'refunds' | 'catalog'>,
  invoice: Invoice,
  stored: readonly BookedPayment[],
): Promise<BooksView> {
  const { terms, refundSeq } = invoice
  const refunds = refundSeq === 0 ? [] : await deps.refunds.listByInvoice(terms.id)
  const movements = movementsOf(invoice, [...stored, ...unlisted(invoice)], refunds)
  const { received, short, shortKind, excess, refunded } = booksOf(invoice, movements)
  const { currency } = terms.fiat
  const fiat = (minor: bigint): FiatView => ({ value: formatFiat(minor, currency), currency })
  const orNone = (minor: bigint) => (minor === 0n ? null : fiat(minor))
  return {
    ...{
      received: fiat(received),
      short: orNone(short),
      shortKind,
      excess: orNone(excess),
      refunded: orNone(refunded),
    },
    coins: coinsOf(deps, movements),
    refunds: movements.flatMap(({ kind, refund, at }) => {
      if (kind !== 'refund' || refund === null) return []
      const { txHash, network, mode } = refund
      const explorerUrl = txHash === null ? null : deps.catalog.explorerTxUrl(network, mode, txHash)
      return [{ ...viewCoin(deps, refund.asset, refund.amountBase), txHash, explorerUrl, at }]
    }),
  }
}

/** Payments beyond the last row of the ledger are not read for a page of strangers: their sum stands for them. */
function unlisted({ state, terms }: Invoice): readonly BookedPayment[] {
  const active = activePaymentMethod(state)
  const amountBase = state.others?.confirmedBase ?? 0n
  if (active === null || amountBase === 0n) return []
  const { asset, network, matchKey } = active
  const { quotedAt: firstSeenAt } = latestQuote(active)
  return [
    {
      ...{ id: terms.id, key: '', asset, network, matchKey, amountBase, kind: 'simulated', state: 'confirmed' },
      ...{ firstSeenAt, bookedAt: [state.updatedAt], counted: true },
    },
  ]
}

function coinsOf(deps: Uses<'catalog'>, movements: readonly Movement[]): readonly CoinView[] {
  const sums = new Map<AssetId, bigint>()
  for (const { asset, appliedBase, excessBase } of movements) {
    sums.set(asset, (sums.get(asset) ?? 0n) + appliedBase + excessBase)
  }
  return [...sums].filter(([, base]) => base > 0n).map(([asset, base]) => viewCoin(deps, asset, base))
}

function viewCoin({ catalog }: Uses<'catalog'>, asset: AssetId, base: bigint): CoinView {
  const info = catalog.asset(asset)
  return { amount: displayUnits(base, info), symbol: info.symbol, network: info.network }
}
