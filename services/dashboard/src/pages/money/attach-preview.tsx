import { Checkbox } from '@mantine/core'
import { Note } from '../../parts/card.tsx'
import { VOCABULARY } from '../../parts/status-vocabulary.ts'
import { Time } from '../../parts/time.tsx'
import type { AttachPlan } from './answers.ts'

/** Whether money may be applied as previewed: where somebody rejected it, a person has to say first that it was not returned. */
export const mayApply = (plan: AttachPlan, notReturned: boolean): boolean => plan.rejected === null || notReturned

/** What applying money to an invoice would do: to which one, whose it is, what is due, and who rejected the money before. */
export function AttachPreview({
  plan,
  notReturned,
  onNotReturned,
}: {
  readonly plan: AttachPlan
  readonly notReturned: boolean
  readonly onNotReturned: (said: boolean) => void
}) {
  const whose = [
    ...(plan.customer === null ? [] : [`Customer: ${plan.customer}.`]),
    ...(plan.orderId === null ? [] : [`Order: ${plan.orderId}.`]),
    ...(plan.due === null ? [] : [`Amount due: ${plan.due.amount} ${plan.due.symbol}.`]),
  ]
  return (
    <>
      <Note tone="pending">
        <p>
          Invoice #{plan.number} changes from {VOCABULARY.invoice[plan.statusBefore].word} to{' '}
          <b>{VOCABULARY.invoice[plan.status].word}</b>
          {plan.underpaidAccepted ? ' (amount below the price)' : ''}. Webhooks are sent.
        </p>
        {whose.length === 0 ? null : <p>{whose.join(' ')}</p>}
      </Note>
      {plan.rejected === null ? null : (
        <Note tone="danger">
          <p>
            {plan.rejected.by} rejected this payment at <Time at={plan.rejected.at} />. If it was returned to the
            customer, do not apply it.
          </p>
          <Checkbox
            className="pm-gap-top"
            label="It was not returned, and will not be"
            checked={notReturned}
            onChange={({ currentTarget }) => onNotReturned(currentTarget.checked)}
          />
        </Note>
      )}
    </>
  )
}
