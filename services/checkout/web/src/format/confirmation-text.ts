import type { PaymentMethodView } from '#shared/contracts/checkout/invoice-view.ts'
import type { Speech } from '../locales/speech.ts'
import { roughText } from './format-values.ts'

/** "It then needs 12 confirmations, about 3 min." For networks that finalize blocks it adds that the block must be final. */
export function neededText(
  { say }: Speech,
  paymentMethod: Pick<PaymentMethodView, 'requiredConfirmations' | 'needsFinality' | 'confirmMs'>,
): string {
  const { requiredConfirmations: x, needsFinality, confirmMs } = paymentMethod
  const t = confirmMs < 60_000 ? say('under', { t: '1 min' }) : say('about', { t: roughText(confirmMs) })
  const what = needsFinality ? 'pay.needsFinal' : x === 1 ? 'pay.needsOne' : 'pay.needs'
  return say(what, { x, t })
}
