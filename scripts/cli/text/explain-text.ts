import type {
  EventExplanation,
  InvoiceExplanation,
  QuoteExplanation,
} from '#shared/usecases/diagnostics/explain-invoice.ts'
import type { PaymentExplanation } from '#shared/usecases/diagnostics/explain-payment.ts'
import type { TransactionExplanation } from '#shared/usecases/diagnostics/explain-transaction.ts'

/** Everything known about an invoice in plain lines; the last one is the conclusion. */
export function invoiceText(known: InvoiceExplanation): string {
  const { sums, chain } = known
  const others = sums.othersCount === 0 ? '' : `, ${sums.othersCount} small ones in one sum`
  return [
    `invoice ${known.id} (number ${known.number}, ${known.mode}, workspace ${known.workspaceId}): ${known.status}`,
    `created ${known.createdAt}, ${known.paidAt === null ? `expires ${known.expiresAt}` : `paid ${known.paidAt}`}`,
    heading('asked', known.paymentMethods.map(methodText)),
    heading('payments', known.payments.map(paymentText)),
    ...(known.unheldPayments.length === 0
      ? []
      : [heading('at its addresses, without an invoice', known.unheldPayments.map(paymentText))]),
    heading(`sums in base units${others}`, [
      `due ${sums.due}, needed ${sums.needed}, received ${sums.received}, of which eligible ${sums.eligible}, confirmed ${sums.settled}, missing ${sums.missing}`,
    ]),
    heading('chain', [chain === null ? 'no asset yet' : chainText(chain)]),
    heading('deadline', [known.deadline]),
    heading(
      'open exceptions',
      known.openExceptions.map(({ id, kind, detail }) => `${kind}: ${detail} (${id})`),
    ),
    heading('events', known.events.map(eventText)),
    '',
    known.conclusion,
  ].join('\n')
}

/** Stored data of a transaction, or the node's data; the last line is the conclusion. */
export function transactionText(known: TransactionExplanation): string {
  const transfers = known.transfers.map(({ toAddress, asset, amount, ours, workspaceIds, invoiceId }) => {
    const owner = ours ? `workspaces ${workspaceIds.join(', ') || 'none (sandbox)'}` : 'not ours'
    return `${amount} ${asset ?? ''} to ${toAddress}: ${owner}${invoiceId === null ? '' : `, invoice ${invoiceId}`}`
  })
  const stored = known.stored.map(
    (payment) =>
      `${paymentText(payment)}\n    invoice ${payment.invoiceId ?? 'none'}, workspace ${payment.workspaceId ?? 'none'}`,
  )
  return [
    `transaction ${known.txHash} on ${known.network} (${known.mode})`,
    heading('stored', stored),
    ...(transfers.length === 0 ? [] : [heading('transfers as the node shows them', transfers)]),
    '',
    known.conclusion,
  ].join('\n')
}

function heading(title: string, lines: readonly string[]): string {
  return [`${title}:`, ...(lines.length === 0 ? ['none'] : lines).map((line) => `  ${line}`)].join('\n')
}

function methodText(paymentMethod: QuoteExplanation): string {
  const quotes = paymentMethod.quotes.map(
    ({ amount, fiatPerAsset, from, to }) => `\n    ${amount} at ${fiatPerAsset}, ${from} to ${to}`,
  )
  const bounds = `tolerance ${paymentMethod.toleranceBase}, late up to ${paymentMethod.lateGraceMinutes} min and ${paymentMethod.lateDriftBps / 100} %`
  return `${paymentMethod.asset} to ${paymentMethod.address}${paymentMethod.active ? '' : ` (replaced ${paymentMethod.to})`}, ${paymentMethod.requiredConfirmations} confirmations, ${bounds}${quotes.join('')}`
}

function paymentText(payment: PaymentExplanation): string {
  const { amount, amountBase, asset, network, txHash, blockHeight, firstSeenAt } = payment
  const what = amount === null ? `${amountBase} base units of a token` : `${amount} ${asset}`
  const where = blockHeight === null ? 'no block' : `block ${blockHeight}`
  return `${what} on ${network}, seen ${firstSeenAt}, ${where}${payment.late ? ', late' : ''}: ${payment.words}\n    payment ${payment.id}, transaction ${txHash ?? 'none'}`
}

function chainText(chain: NonNullable<InvoiceExplanation['chain']>): string {
  if (!chain.hasNode) return `${chain.network}: no node connected`
  const silent = chain.headAgeMs === null ? '' : `, node responded ${Math.round(chain.headAgeMs / 1_000)} s ago`
  const halt = chain.haltReason === null ? '' : `. ${chain.haltReason}`
  return `${chain.network}: ${chain.status}, block ${chain.height ?? '-'}, ${chain.lagBlocks ?? '-'} behind, finalised block ${chain.finalizedHeight ?? '-'}${silent}${halt}`
}

function eventText({ seq, type, at, relayed, deliveries }: EventExplanation): string {
  const states = deliveries.map(({ id, status, attempts, lastStatusCode, lastError }) => {
    const last = lastError ?? lastStatusCode
    return `\n    ${id}: ${status} after ${attempts} attempts${last === null ? '' : `, last ${last}`}`
  })
  return `${seq} ${type} ${at}${relayed ? '' : ' (queued in the outbox)'}${states.join('')}`
}
