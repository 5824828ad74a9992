import { useEffect, useState } from 'preact/hooks'
import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { coinsText } from '../format/coins-text.ts'
import { durationText, fiatText, fullMomentText } from '../format/format-values.ts'
import { isRefunded } from '../format/step.ts'
import { Foreign, Say, useSpeech } from '../locales/locale.tsx'
import { Hero, Note, Question, ShopLink, StateBar } from '../parts/blocks.tsx'
import { Contact, ContactHint } from '../parts/contact.tsx'
import { Icon } from '../parts/icon.tsx'
import { PaymentList } from '../parts/payment-list.tsx'
import { Steps } from '../parts/steps.tsx'

/** The page stays at least this long before it returns to the shop, unless the payer stops it. */
const JUMP_AFTER_S = 15

interface PaidProps {
  readonly view: InvoiceView
  readonly now: number
  /** The page was open during the payment; a page opened later stays. */
  readonly wasWatched: boolean
}

/** Thank you, the way back and the receipt. */
export function PaidStep({ view, now, wasWatched }: PaidProps) {
  const { say, locale } = useSpeech()
  const { paymentMethod, status } = view
  const who = <Foreign text={view.merchant.name} />
  const price = fiatText(view.fiat, locale(view.fiat.currency))
  const isOver = status === 'overpaid' && paymentMethod !== null
  return (
    <>
      <Steps names={['step.coin', 'step.pay', 'step.confirm']} at={3} />
      <Hero tone={isOver ? 'overpaid' : 'paid'} icon={isOver ? 'plus' : 'done'} title={say('paid')}>
        <Say w={view.isAcceptedShort ? 'paid.short' : 'paid.sub'} m={who} a={<span class="whole">{price}</span>} />
      </Hero>
      {isOver && (
        <Note tone="overpaid" icon="plus">
          <Say
            w={isRefunded(view) ? 'overpaid.back' : 'overpaid'}
            m={who}
            a={view.excess}
            c={paymentMethod.symbol}
            x={view.number}
          />
        </Note>
      )}
      {isOver && !isRefunded(view) && view.merchant.contact === null && <ContactHint merchant={view.merchant} />}
      {view.isPaidLate && (
        <Note tone="partial" icon="clock">
          {say('late.ok')}
        </Note>
      )}
      <div class="acts">
        <ShopLink href={view.successUrl} isMain>
          <Say w="back" m={who} />
        </ShopLink>
        <a class="button" href={`/i/${view.id}/receipt`}>
          <Icon name="receipt" />
          {say('receipt')}
        </a>
        {isOver && <Contact merchant={view.merchant} />}
      </div>
      {wasWatched && view.successUrl !== null && !isOver && <Jump to={view.successUrl} merchant={view.merchant.name} />}
      <dl class="summary">
        {paymentMethod !== null && (
          <div>
            <dt>{say('fact.paidWith')}</dt>
            <dd>{coinsText(view, paymentMethod)}</dd>
          </div>
        )}
        {view.paidAt !== null && (
          <div>
            <dt>{say('fact.paidAt')}</dt>
            <dd>
              <time dateTime={new Date(view.paidAt).toISOString()}>{fullMomentText(view.paidAt, locale())}</time>
            </dd>
          </div>
        )}
        <div>
          <dt>{say('fact.invoice')}</dt>
          <dd>#{view.number}</dd>
        </div>
      </dl>
      {view.payments.length > 0 && (
        <div class="help">
          <Question title={say('payments.count', { x: view.payments.length })}>
            <PaymentList view={view} now={now} />
          </Question>
        </div>
      )}
      <StateBar
        tone={isOver ? 'overpaid' : 'paid'}
        icon={isOver ? 'plus' : 'done'}
        title={
          isOver
            ? say('overpaid.bar', { a: view.excess, c: paymentMethod.symbol })
            : say(view.isAcceptedShort ? 'paid.barShort' : 'paid.bar')
        }
      >
        {say('paid.barSub')}
      </StateBar>
    </>
  )
}

/** Returns to the shop after a while, with a button that stops it. It is only a link and proves nothing: shops rely on webhooks. */
function Jump({ to, merchant }: { readonly to: string; readonly merchant: string }) {
  const { say } = useSpeech()
  const [left, setLeft] = useState<number | null>(JUMP_AFTER_S)
  useEffect(() => {
    if (left === null || !/^https?:\/\//.test(to)) return
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible') return
      // A payer who returned with the browser's Back button stays.
      setLeft(left > 1 ? left - 1 : null)
      if (left <= 1) location.assign(to)
    }, 1_000)
    return () => clearInterval(timer)
  }, [left, to])
  if (left === null) return null
  return (
    <p class="jump">
      <span>
        <Say w="jump" m={<Foreign text={merchant} />} t={durationText(left * 1_000)} />
      </span>
      <button type="button" class="button" onClick={() => setLeft(null)}>
        {say('stay')}
      </button>
    </p>
  )
}
