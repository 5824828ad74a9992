import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Refusal } from '#shared/domain/invoice/invoice-event.ts'

const MESSAGES: Readonly<Record<Refusal, string>> = {
  not_cancellable: 'The invoice cannot be cancelled in its current state.',
  has_funds: 'The invoice has received funds and cannot be cancelled.',
  no_open_price: 'The invoice is in a state in which no coin can be chosen.',
  payment_methods_changed: 'Another coin was chosen at the same time. Try again.',
  too_many_payment_methods: 'The coin of this invoice was changed too often.',
  too_many_quotes: 'The price of this invoice was renewed too often.',
  not_simulatable: 'The invoice is in a state that does not allow this simulation.',
  not_acceptable: 'The invoice cannot accept funds in its current state.',
  unconfirmed_funds: 'The funds are not confirmed yet.',
  refunded_funds:
    'Refunds of this invoice return these funds to the customer. Withdraw a refund that was not sent before you accept them.',
  not_countable: 'Only dust in the coin of an open invoice can be applied, and only once.',
}

/** The public 409 `INVALID_STATE` for a refusal of the state machine; the refusal itself is the internal text. */
export function refusalError(reason: Refusal): PaymeshError {
  return new PaymeshError('INVALID_STATE', { message: MESSAGES[reason], internal: reason })
}
