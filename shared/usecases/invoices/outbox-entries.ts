import { eventId } from '#shared/domain/ids.ts'
import type { Effect } from '#shared/domain/invoice/invoice-event.ts'
import type { InvoiceState } from '#shared/domain/invoice/model.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { OutboxEntry } from '#shared/ports/invoices.ts'
import { snapshotInvoice } from './present-invoice.ts'

/** Public payment records by transfer key, after the change that the entries announce. */
export type PresentedPayments = ReadonlyMap<string, Readonly<Record<string, unknown>>>

/**
 * Turns the effects of one decision into outbox entries, in their order. The last entry carries `state.eventSeq`,
 * so the same decision always yields the same event ids. Every payment event needs its record in `payments`.
 */
export function outboxEntries(
  { id, catalog }: { readonly id: string; readonly catalog: Pick<Catalog, 'paymentUri'> },
  state: InvoiceState,
  effects: readonly Effect[],
  payments: PresentedPayments = new Map(),
): readonly OutboxEntry[] {
  if (effects.length === 0) return []
  const snapshot = snapshotInvoice(catalog, state)
  const before = state.eventSeq - effects.length
  return effects.map((effect, index) => {
    const seq = before + index + 1
    return {
      eventId: eventId(id, seq),
      seq,
      kind: effect.kind,
      type: typeOf(effect),
      at: state.updatedAt,
      snapshot,
      payment: isPaymentEvent(effect) ? recordOf(payments, effect.payment) : null,
      paymentKey: effect.payment,
      ...(effect.kind === 'audit' && { actor: effect.by }),
      ...(effect.kind === 'audit' && effect.reason !== undefined && { reason: effect.reason }),
    }
  })
}

/** True for `payment.detected` and `payment.confirmed`, the events that carry `data.payment`. */
export function isPaymentEvent(effect: Effect): boolean {
  return effect.kind === 'event' && effect.type.startsWith('payment.')
}

function typeOf(effect: Effect): OutboxEntry['type'] {
  if (effect.kind === 'event') return effect.type
  if (effect.kind === 'audit') return effect.action
  return effect.kind === 'mail' ? effect.template : effect.exception
}

function recordOf(payments: PresentedPayments, key: string | null): Readonly<Record<string, unknown>> {
  const record = key === null ? undefined : payments.get(key)
  if (record === undefined) throw new Error(`payment event without its payment ${key ?? ''}`)
  return record
}
