import type { EventType } from '#shared/domain/enumerations.ts'
import type { Ms, PaymentMethod } from '#shared/domain/invoice/model.ts'
import { NETWORKS } from '#shared/domain/networks.ts'

/** What an event of an invoice means, as a sentence for people. `methods` are the invoice's payment methods, in their order. */
export function eventSentence(type: EventType, at: Ms, methods: readonly PaymentMethod[]): string {
  if (type !== 'invoice.pending') return SENTENCES[type]
  // The method that began last before the event; those of one moment follow each other.
  const method = methods.findLast(({ from }) => from <= at) ?? methods[0]
  return method === undefined ? SENTENCES[type] : `Payer chose ${method.symbol} on ${NETWORKS[method.network].name}`
}

const SENTENCES: Readonly<Record<EventType, string>> = {
  'invoice.created': 'Invoice created',
  'invoice.pending': 'Payer chose a coin',
  'invoice.partial': 'Part of the amount arrived',
  'invoice.confirming': 'The whole amount arrived and is being confirmed',
  'invoice.paid': 'Paid',
  'invoice.overpaid': 'Paid, with more than was due',
  'invoice.expired': 'Expired',
  'invoice.late_payment': 'A payment arrived after the end',
  'invoice.cancelled': 'Cancelled',
  'payment.detected': 'A payment was seen',
  'payment.confirmed': 'A payment was confirmed',
  'webhook.test': 'Test event',
}
