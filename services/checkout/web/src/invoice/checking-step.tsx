import type { InvoiceView, PaymentMethodView } from '#shared/contracts/checkout/invoice-view.ts'
import { isZero } from '../format/step.ts'
import { useSpeech } from '../locales/locale.tsx'
import { Hero, StateBar } from '../parts/blocks.tsx'
import { Contact } from '../parts/contact.tsx'
import { PaymentList } from '../parts/payment-list.tsx'
import { Steps } from '../parts/steps.tsx'
import { AlreadySent, Unread } from './ended-step.tsx'

interface CheckingProps {
  readonly view: InvoiceView
  readonly lock: PaymentMethodView
  readonly now: number
}

/** The time to pay is over, and the server still scans the blocks up to then: seconds, or longer while a network is stuck. */
export function CheckingStep({ view, lock, now }: CheckingProps) {
  const { say } = useSpeech()
  const { received } = view
  return (
    <>
      <Steps names={['step.coin', 'step.pay', 'step.confirm']} at={1} />
      <Hero tone="pending" icon="clock" title={say('unread.title')}>
        <Unread view={view} now={now} />
      </Hero>
      {!isZero(received) && (
        <p class="sub centered">{say('unread.part', { a: received, b: lock.due, c: lock.symbol })}</p>
      )}
      <PaymentList view={view} now={now} />
      <div class="acts">
        <Contact merchant={view.merchant} />
      </div>
      <AlreadySent view={view} now={now} />
      <StateBar tone="pending" icon="clock" title={say('unread.title')}>
        {say('unread.barSub')}
      </StateBar>
    </>
  )
}
