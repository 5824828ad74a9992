import type { Mode } from '#shared/domain/enumerations.ts'
import { api } from '../api/trpc.ts'
import { showDecimal } from '../format/amounts.ts'
import { VOCABULARY } from '../parts/status-vocabulary.ts'

/** A search result: its path after `/{workspace}/{mode}/`. */
export interface SearchHit {
  readonly label: string
  readonly detail: string
  readonly page: string
}

const FOUND_MAX = 6

/** Searches for a number, order, customer, e-mail, amount, address, transaction, payment, `evt_` or `whd_`. The form of the text decides which procedures are called. */
export async function globalSearch(question: {
  readonly workspaceId: string
  readonly mode: Mode
  readonly text: string
}): Promise<readonly SearchHit[]> {
  const { text, ...scope } = question
  if (/^(whd|evt)_/.test(text)) {
    const { items } = await api.deliveries.list.query({ ...scope, q: text, limit: FOUND_MAX })
    return items.map(({ id, eventType, invoiceNumber }) => ({
      label: eventType,
      detail: `Delivery ${id}${invoiceNumber === null ? '' : ` of invoice #${invoiceNumber}`}`,
      page: `webhooks/deliveries/${encodeURIComponent(id)}`,
    }))
  }
  const { items } = await api.invoices.list.query({ ...scope, q: text.replace(/^#/, ''), limit: FOUND_MAX })
  return items.length === 0
    ? await paymentsFound(question)
    : items.map(({ id, number, status, amount, orderId }) => ({
        label: `Invoice #${number}`,
        detail: [VOCABULARY.invoice[status].word, `${showDecimal(amount.value)} ${amount.currency}`, orderId ?? '']
          .filter(Boolean)
          .join(' · '),
        page: `invoices/${encodeURIComponent(id)}`,
      }))
}

/** Payments that belong to no invoice, or are found by an amount: their list is their page. */
async function paymentsFound({ text, ...scope }: Parameters<typeof globalSearch>[0]): Promise<readonly SearchHit[]> {
  const { items } = await api.payments.list.query({ ...scope, q: text, limit: FOUND_MAX })
  return items.map(({ id, amount, symbol, networkName, state, invoiceNumber }) => ({
    label: `Payment of ${amount} ${symbol ?? 'base units'}`,
    detail: [
      ...[VOCABULARY.payment[state].word, networkName],
      invoiceNumber === null ? 'no invoice' : `invoice #${invoiceNumber}`,
    ].join(' · '),
    page: `payments?q=${encodeURIComponent(id)}`,
  }))
}
