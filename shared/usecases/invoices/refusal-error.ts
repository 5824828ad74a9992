import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Refusal } from '#shared/domain/invoice/model.ts'

const MESSAGES: Readonly<Record<Refusal, string>> = {
  not_cancellable: 'The invoice is in a state that cannot be cancelled.',
  has_funds: 'The invoice has received funds and cannot be cancelled.',
  not_lockable: 'The invoice is in a state in which no asset can be chosen.',
  locks_changed: 'Another asset was chosen at the same moment. Try again.',
  too_many_locks: 'The asset of this invoice was changed too often.',
  too_many_quotes: 'The price of this invoice was renewed too often.',
  not_simulatable: 'The invoice is in a state that does not allow this simulation.',
  not_acceptable: 'The invoice is in a state in which funds cannot be accepted.',
  unconfirmed_funds: 'The funds are not confirmed yet.',
  not_countable: 'Only dust in the asset of an open invoice can be counted, and only once.',
}

/** The public 409 `INVALID_STATE` for a refusal of the state machine; the refusal itself is the internal text. */
export function refusalError(reason: Refusal): PaymeshError {
  return new PaymeshError('INVALID_STATE', { message: MESSAGES[reason], internal: reason })
}
