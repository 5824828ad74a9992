import type { ComponentChildren } from 'preact'
import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { momentText } from '../format/format-values.ts'
import { isGone, isRefunded, isZero, type Step } from '../format/step.ts'
import { Foreign, Say, useSpeech } from '../locales/locale.tsx'
import { Hero, Note, Question, ShopLink, StateBar } from '../parts/blocks.tsx'
import { Contact, ContactHint } from '../parts/contact.tsx'
import { PaymentList } from '../parts/payment-list.tsx'
import { Steps } from '../parts/steps.tsx'
import { HashQuestion } from './hash-question.tsx'
import type { Action } from './use-action.ts'

interface EndedProps {
  readonly view: InvoiceView
  readonly step: Step
  readonly now: number
  readonly actionId: Action
}

/** Nothing to be sent (any more): over, cancelled, late, or waiting for a new quote. */
export function EndedStep(props: EndedProps) {
  return (
    <>
      <Steps names={['step.coin', 'step.pay', 'step.confirm']} at={props.view.paymentMethod === null ? 0 : 1} />
      <Ending {...props} />
    </>
  )
}

function Ending(props: EndedProps) {
  if (props.step === 'lapsed') return <Lapsed {...props} />
  if (props.step === 'late' || props.step === 'short') return <Undecided {...props} />
  return props.step === 'cancelled' || props.step === 'removed' ? <Closed {...props} /> : <Expired {...props} />
}

function Lapsed({ view, now, actionId }: EndedProps) {
  const { say } = useSpeech()
  const canRenew = view.canRenew && now < view.expiresAt
  return (
    <>
      <Hero tone="pending" icon="clock" title={say('held.over')}>
        <LapsedText view={view} now={now} canRenew={canRenew} />
      </Hero>
      {canRenew && (
        <div class="acts">
          <button
            type="button"
            class="button main"
            aria-disabled={actionId.isBusy}
            aria-busy={actionId.isBusy}
            onClick={() => void actionId.run('price', {}, null)}
          >
            {say('requote.do')}
          </button>
        </div>
      )}
      {actionId.problem !== null && (
        <p class="problem" role="alert">
          {actionId.problem}
        </p>
      )}
      {!isZero(view.received) && (
        <>
          <PaymentList view={view} now={now} />
          {!canRenew && (
            <div class="acts">
              <Contact merchant={view.merchant} />
            </div>
          )}
        </>
      )}
      <AlreadySent view={view} now={now} />
      <StateBar tone="pending" icon="clock" title={say('held.over')}>
        {say('expired.barSub')}
      </StateBar>
    </>
  )
}

function LapsedText({ view, now, canRenew }: Pick<EndedProps, 'view' | 'now'> & { readonly canRenew: boolean }) {
  const { say } = useSpeech()
  const { received, paymentMethod, merchant } = view
  if (isZero(received)) return canRenew ? say('requote') : <Unread view={view} now={now} />
  const paid = { a: received, c: paymentMethod?.symbol ?? '' }
  return canRenew ? say('requote.rest', paid) : <Say w="requote.none" m={<Foreign text={merchant.name} />} {...paid} />
}

function Expired({ view, now }: EndedProps) {
  const { say } = useSpeech()
  const who = <Foreign text={view.merchant.name} />
  return (
    <>
      <Hero tone="expired" icon="hourglass" title={say('expired.title')}>
        {view.isUnread ? <Unread view={view} now={now} /> : <HeldUntil view={view} now={now} />}
      </Hero>
      {view.payments.some(isGone) && (
        <Note tone="expired" icon="info">
          {say('stepback')}
        </Note>
      )}
      <PaymentList view={view} now={now} />
      <div class="acts">
        {view.paymentLinkId !== null ? (
          <a class="button main" href={`/l/${view.paymentLinkId}`}>
            {say('expired.link')}
          </a>
        ) : (
          <ShopLink href={view.cancelUrl ?? view.successUrl} isMain>
            <Say w="expired.again" m={who} />
          </ShopLink>
        )}
        <Contact merchant={view.merchant} />
      </div>
      {view.paymentMethod !== null && <AlreadySent view={view} now={now} />}
      <StateBar tone="expired" icon="hourglass" title={say(view.isUnread ? 'unread.title' : 'expired.bar')}>
        {view.paymentMethod === null ? null : say(view.isUnread ? 'unread.barSub' : 'expired.barSub')}
      </StateBar>
    </>
  )
}

function HeldUntil({ view, now }: Pick<EndedProps, 'view' | 'now'>) {
  const { say, locale } = useSpeech()
  const t = momentText(endOf(view), now, locale())
  return <>{say(view.paymentMethod === null ? 'expired.new' : 'expired.sub', { t })}</>
}

/** Shown while blocks from before the end are unread: a payment may still be found. */
export function Unread({ view, now }: Pick<EndedProps, 'view' | 'now'>) {
  const { say, locale } = useSpeech()
  const n = view.paymentMethod === null ? '' : NETWORKS[view.paymentMethod.network].name
  return <>{say('unread.sub', { t: momentText(endOf(view), now, locale()), n })}</>
}

const endOf = ({ paymentMethod, expiresAt }: InvoiceView): number =>
  paymentMethod === null ? expiresAt : Math.min(paymentMethod.quoteEndsAt, expiresAt)

/** Help for a payer who has paid and does not see the payment. */
export function AlreadySent({ view, now }: Pick<EndedProps, 'view' | 'now'>) {
  const { say, locale } = useSpeech()
  const who = <Foreign text={view.merchant.name} />
  return (
    <div class="help">
      <Question title={say('sent.q')} isOpen>
        <p>
          <b>{say('sent.dont')}</b> <Say w="sent" t={momentText(endOf(view), now, locale())} m={who} />
        </p>
      </Question>
      <Question title={say('wrongnet.q')}>
        <p>
          <Say w="wrongnet" m={who} x={view.number} />
        </p>
        <ContactHint merchant={view.merchant} />
      </Question>
      <HashQuestion view={view} />
    </div>
  )
}

/** Money arrived, but too late or too little: an operator decides. */
function Undecided({ view, step, now }: EndedProps) {
  const { say, locale } = useSpeech()
  const { paymentMethod, received } = view
  const who = <Foreign text={view.merchant.name} />
  const c = paymentMethod?.symbol ?? ''
  const t = momentText(view.expiresAt, now, locale())
  const isLate = step === 'late'
  const isDecided = isRefunded(view)
  const arrived = view.payments.findLast((payment) => payment.isLate)?.seenAt ?? view.expiresAt
  return (
    <>
      <Hero tone="partial" icon={isLate ? 'clock' : 'half'} title={say(isLate ? 'late.title' : 'short.title')}>
        {isLate
          ? say('late.sub', { a: momentText(arrived, now, locale()), t })
          : say('short.sub', { a: received, b: paymentMethod?.due ?? '', c, t })}
      </Hero>
      {!isDecided && (
        <Note tone="partial" icon="info">
          <b>{say('late.safe')}</b> <Say w="late.decide" a={received} c={c} m={who} />
        </Note>
      )}
      <PaymentList view={view} now={now} />
      <div class="acts">
        <Contact merchant={view.merchant} />
      </div>
      {!isDecided && (
        <p class="sub centered">
          <Say w="late.quote" x={view.number} m={who} /> {say('late.wait')}
        </p>
      )}
      {view.merchant.contact === null && <ContactHint merchant={view.merchant} />}
      <StateBar
        tone="partial"
        icon={isLate ? 'clock' : 'half'}
        title={
          isLate ? <Say w={isDecided ? 'refunded.bar' : 'late.bar'} m={who} /> : say('short.bar', { a: received, c })
        }
      >
        {isLate ? (
          say('late.barSub', { a: received, c })
        ) : (
          <Say w={isDecided ? 'refunded.bar' : 'short.barSub'} m={who} />
        )}
      </StateBar>
    </>
  )
}

/** Cancelled by the merchant, or not there any more: what an address of it received is not decided here. */
function Closed({ view, step, now }: EndedProps): ComponentChildren {
  const { say } = useSpeech()
  const isRemoved = step === 'removed'
  const who = <Foreign text={view.merchant.name} />
  return (
    <>
      <Hero tone="cancelled" icon="slash" title={say(isRemoved ? 'removed.title' : 'cancelled.title')}>
        {isRemoved ? say('removed') : <Say w="cancelled" m={who} />}
      </Hero>
      {!isRemoved && !isRefunded(view) && (view.payments.length > 0 || !isZero(view.received)) && (
        <Note tone="partial" icon="info">
          <b>{say('late.safe')}</b>{' '}
          <Say w="late.decide" a={view.received} c={view.paymentMethod?.symbol ?? ''} m={who} />
        </Note>
      )}
      <PaymentList view={view} now={now} />
      <div class="acts">
        <ShopLink href={view.cancelUrl} isMain>
          <Say w="back" m={who} />
        </ShopLink>
        <Contact merchant={view.merchant} />
      </div>
      {view.paymentMethod !== null && (
        <p class="sub centered">
          <Say w="cancelled.sent" m={who} x={view.number} />
        </p>
      )}
      {view.paymentMethod !== null && view.merchant.contact === null && <ContactHint merchant={view.merchant} />}
      <StateBar tone="cancelled" icon="slash" title={say(isRemoved ? 'removed.title' : 'cancelled.bar')}>
        {say('cancelled.barSub')}
      </StateBar>
    </>
  )
}
