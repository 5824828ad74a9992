import { useEffect, useRef, useState } from 'preact/hooks'
import { coinsText } from '#services/checkout/web/src/format/coins-text.ts'
import { fiatNumber, momentText, rateText } from '#services/checkout/web/src/format/format-values.ts'
import { meaningOf, type Problem } from '#services/checkout/web/src/format/problem-text.ts'
import { isRefunded, isZero, type Step, stepOf } from '#services/checkout/web/src/format/step.ts'
import { Foreign, Say, useSpeech } from '#services/checkout/web/src/locales/locale.tsx'
import type { Speech } from '#services/checkout/web/src/locales/speech.ts'
import { UnloadedPage } from '#services/checkout/web/src/pages/missing-page.tsx'
import { useAnnounce } from '#services/checkout/web/src/parts/announcer.tsx'
import { Away, Hero, StateBar } from '#services/checkout/web/src/parts/blocks.tsx'
import { Contact } from '#services/checkout/web/src/parts/contact.tsx'
import { type Fact, Frame } from '#services/checkout/web/src/parts/frame.tsx'
import { PaymentList, RefundNotes } from '#services/checkout/web/src/parts/payment-list.tsx'
import { Steps } from '#services/checkout/web/src/parts/steps.tsx'
import { useNow } from '#services/checkout/web/src/parts/use-now.ts'
import type { AssetOptionsView, InvoiceView, PaymentMethodView } from '#shared/contracts/checkout/invoice-view.ts'
import { NETWORKS, networkText } from '#shared/domain/networks.ts'
import { ConfirmingStep } from './confirming-step.tsx'
import { AlreadySent, EndedStep, Unread } from './ended-step.tsx'
import { PaidStep } from './paid-step.tsx'
import { PayStep } from './pay-step.tsx'
import { PickStep } from './pick-step.tsx'
import { useAction } from './use-action.ts'
import { useInvoice } from './use-invoice.ts'

/** The checkout of one invoice, always up to date. */
export function InvoicePage({ id }: { readonly id: string }) {
  const { state, accept, refresh } = useInvoice(id)
  const deviceNow = useNow()
  if (state.view === null) return <UnloadedPage problem={state.away} retry={refresh} />
  return (
    <Checkout
      view={state.view}
      now={deviceNow + state.offset}
      away={state.away}
      options={state.options}
      accept={accept}
      refresh={refresh}
    />
  )
}

interface CheckoutProps {
  readonly view: InvoiceView
  readonly now: number
  readonly away: Problem | null
  readonly options: AssetOptionsView | null
  readonly accept: (view: InvoiceView, now: number) => void
  readonly refresh: () => void
}

function Checkout({ view, now, away, options, accept, refresh }: CheckoutProps) {
  const speech = useSpeech()
  const [isChoosing, setChoosing] = useState(false)
  const isRemoved = away !== null && meaningOf(away) === 'unknown'
  const actual: Step = isRemoved ? 'removed' : stepOf(view, now)
  const step: Step = actual === 'pay' && isChoosing && view.canChoose ? 'pick' : actual
  const first = useRef(actual)
  const actionId = useAction(view, accept, refresh)
  useStepChange(view, step)
  const { locale } = speech
  const { fiat, paymentMethod } = view
  const keep = paymentMethod !== null && step === 'pick' ? () => setChoosing(false) : null
  return (
    <Frame
      mode={view.mode}
      merchant={view.merchant}
      head={
        view.orderId === null ? (
          speech.say('invoice', { x: view.number })
        ) : (
          <Say w="order" x={<Foreign text={view.orderId} />} />
        )
      }
      total={
        <>
          {fiatNumber(fiat, locale(fiat.currency))} <i>{fiat.currency}</i>
        </>
      }
      description={view.description}
      facts={factsOf(view, step, now, speech)}
      title={titleOf(view, step, speech)}
    >
      {away !== null && !isRemoved && <Away problem={away} />}
      <RefundNotes view={view} />
      {step === 'pick' && (
        <PickStep view={view} now={now} options={options} accept={accept} refresh={refresh} keep={keep} />
      )}
      {(step === 'pay' || step === 'partial') && paymentMethod !== null && (
        // Another payment method is another page with its own tabs and state.
        <PayStep
          key={`${paymentMethod.address} ${paymentMethod.asset}`}
          view={view}
          paymentMethod={paymentMethod}
          now={now}
          actionId={actionId}
          accept={accept}
          chooseOther={() => setChoosing(true)}
        />
      )}
      {step === 'confirming' && paymentMethod !== null && (
        <ConfirmingStep view={view} paymentMethod={paymentMethod} now={now} />
      )}
      {step === 'paid' && <PaidStep view={view} now={now} wasWatched={first.current !== 'paid'} />}
      {step === 'checking' && paymentMethod !== null && (
        <CheckingStep view={view} paymentMethod={paymentMethod} now={now} />
      )}
      {ENDED.has(step) && <EndedStep view={view} step={step} now={now} actionId={actionId} />}
    </Frame>
  )
}

const ENDED: ReadonlySet<Step> = new Set(['lapsed', 'expired', 'short', 'late', 'cancelled', 'removed'])

/** Announces a new state once, and restores the focus when its element is gone. */
function useStepChange(view: InvoiceView, step: Step): void {
  const { say } = useSpeech()
  const announce = useAnnounce()
  const before = useRef<string | null>(null)
  const place =
    step === 'pay' || step === 'partial' ? `${view.paymentMethod?.asset} ${view.paymentMethod?.address}` : ''
  const mark = `${step} ${place} ${step === 'partial' ? view.received : ''} ${view.books.refunds.length}`
  useEffect(() => {
    const isFirst = before.current === null
    if (before.current === mark) return
    before.current = mark
    if (isFirst) return
    announce(announcement(view, step, say))
    if (document.activeElement === null || document.activeElement === document.body)
      document.querySelector('h1')?.focus()
  })
}

function announcement(view: InvoiceView, step: Step, say: Speech['say']): string {
  const { paymentMethod, received } = view
  if (isRefunded(view)) return say('refunded.bar', { m: view.merchant.name })
  if (step === 'partial')
    return say('say.partial', {
      a: received,
      b: paymentMethod?.due ?? '',
      c: paymentMethod?.symbol ?? '',
      x: paymentMethod?.remaining ?? '',
    })
  if (step === 'pay')
    return say('pay.title', {
      a: paymentMethod?.remaining ?? '',
      c: paymentMethod?.symbol ?? '',
      n: paymentMethod === null ? '' : NETWORKS[paymentMethod.network].name,
    })
  if (step === 'pick') return say('pick.title')
  if (step === 'lapsed') return say('held.over')
  if (step === 'checking') return say('unread.title')
  if (step === 'removed') return say('removed.title')
  return say(`say.${step}`, { m: view.merchant.name })
}

function titleOf(view: InvoiceView, step: Step, { say }: Speech): string {
  const { paymentMethod } = view
  if (step === 'pick') return say('pick.title')
  if (step === 'pay' && paymentMethod !== null)
    return say('title.pay', {
      a: paymentMethod.remaining,
      c: paymentMethod.symbol,
      n: NETWORKS[paymentMethod.network].name,
    })
  if (step === 'lapsed' || step === 'pay') return say('held.over')
  if (step === 'checking') return say('unread.title')
  if (step === 'short') return say('title.expired')
  if (step === 'removed') return say('removed.title')
  return say(`title.${step}`)
}

function factsOf(view: InvoiceView, step: Step, now: number, { say, locale }: Speech): readonly Fact[] {
  const { paymentMethod, received } = view
  const facts: Fact[] = [{ name: say('fact.invoice'), value: `#${view.number}` }]
  const at = (time: number) => <time dateTime={new Date(time).toISOString()}>{momentText(time, now, locale())}</time>
  if (paymentMethod === null) {
    // What was cancelled never expired.
    if (step !== 'cancelled' && step !== 'removed')
      facts.push({ name: say(step === 'pick' ? 'fact.before' : 'fact.expired'), value: at(view.expiresAt) })
    return facts
  }
  const isPaid = step === 'paid'
  if (step === 'pay' || step === 'lapsed' || step === 'pick') {
    facts.push({
      name: say('fact.rate'),
      value: `1 ${paymentMethod.symbol} = ${rateText(paymentMethod.fiatPerAsset, locale(view.fiat.currency))} ${view.fiat.currency}`,
    })
  }
  if ((step !== 'pay' && step !== 'lapsed' && step !== 'pick') || !isZero(received)) {
    const coins = isPaid ? coinsText(view, paymentMethod) : `${received} ${paymentMethod.symbol}`
    const value = isZero(received) ? say('fact.nothing') : coins
    facts.push({ name: say(isPaid ? 'fact.paidWith' : 'fact.received'), value })
  }
  if (step === 'partial')
    facts.push({ name: say('fact.due'), value: `${paymentMethod.remaining} ${paymentMethod.symbol}` })
  if (step === 'pay' || step === 'partial') {
    facts.push({ name: say('fact.held'), value: at(paymentMethod.quoteEndsAt) })
  }
  if (step === 'confirming')
    facts.push({ name: say('fact.network'), value: networkText(paymentMethod.network, paymentMethod.isToken) })
  if (step === 'expired' || step === 'short' || step === 'late')
    facts.push({ name: say('fact.expired'), value: at(view.expiresAt) })
  return facts
}

interface CheckingProps {
  readonly view: InvoiceView
  readonly paymentMethod: PaymentMethodView
  readonly now: number
}

/** The time to pay is over, and the server still scans the blocks up to then: seconds, or longer while a network is stuck. */
function CheckingStep({ view, paymentMethod, now }: CheckingProps) {
  const { say } = useSpeech()
  const { received } = view
  return (
    <>
      <Steps names={['step.coin', 'step.pay', 'step.confirm']} at={1} />
      <Hero tone="pending" icon="clock" title={say('unread.title')}>
        <Unread view={view} now={now} />
      </Hero>
      {!isZero(received) && (
        <p class="sub centered">{say('unread.part', { a: received, b: paymentMethod.due, c: paymentMethod.symbol })}</p>
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
