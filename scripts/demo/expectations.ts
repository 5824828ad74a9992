import type { Invoice, Payment } from '#clients/typescript/src/main.ts'

/** The parts of a webhook that the demo checks, in order of arrival. */
export interface ReceivedEvent {
  readonly id: string
  readonly type: string
  readonly signatureValid: boolean
  readonly invoice: Pick<Invoice, 'status' | 'crypto' | 'received' | 'updated_at'>
  readonly payment: Pick<Payment, 'amount_base_units' | 'tx_hash'> | null
}

/** The events of one paid invoice, each exactly once. */
export const EXPECTED_EVENTS = [
  'invoice.created',
  'invoice.pending',
  'payment.detected',
  'invoice.confirming',
  'payment.confirmed',
  'invoice.paid',
] as const

/** Position of an event in the life of a paid invoice; deliveries may arrive out of order, but changes must not happen out of order. */
function rankOf(event: ReceivedEvent): number {
  return (EXPECTED_EVENTS as readonly string[]).indexOf(event.type)
}

/**
 * All faults in the received events of one invoice that was paid with exactly one transfer;
 * empty when each event came, with a valid signature, the right amounts and in a legal order of changes.
 */
export function faultsOf(
  received: readonly ReceivedEvent[],
  paid: { readonly amountBase: bigint; readonly txHash: string },
): readonly string[] {
  const faults: string[] = []
  const unique = [...new Map(received.map((event) => [event.id, event])).values()]
  for (const type of EXPECTED_EVENTS) {
    const count = unique.filter((event) => event.type === type).length
    if (count !== 1) faults.push(`${type} was announced ${count} times`)
  }
  for (const event of unique) {
    if (rankOf(event) < 0) faults.push(`${event.type} was not expected`)
    if (!event.signatureValid) faults.push(`${event.type} carries an invalid signature`)
    if (event.payment && BigInt(event.payment.amount_base_units) !== paid.amountBase)
      faults.push(`${event.type} says ${event.payment.amount_base_units} base units, ${paid.amountBase} were sent`)
    if (event.payment && event.payment.tx_hash !== paid.txHash) faults.push(`${event.type} names another transaction`)
  }
  const changes = unique.toSorted(
    (a, b) => a.invoice.updated_at.localeCompare(b.invoice.updated_at) || rankOf(a) - rankOf(b),
  )
  if (changes.some((event, index) => index > 0 && rankOf(event) < rankOf(changes[index - 1] ?? event)))
    faults.push(`the changes are out of order: ${changes.map((event) => event.type).join(', ')}`)
  const last = changes.at(-1)
  if (last && BigInt(last.invoice.received.confirmed_base_units) !== paid.amountBase)
    faults.push(`the paid invoice says ${last.invoice.received.confirmed_base_units} confirmed base units`)
  return faults
}
