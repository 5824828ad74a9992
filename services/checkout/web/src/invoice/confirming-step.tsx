import type { InvoiceView, PaymentMethodView } from '#shared/contracts/checkout/invoice-view.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { roughText } from '../format/format-values.ts'
import { isGone, slowest } from '../format/step.ts'
import { Foreign, Say, useSpeech } from '../locales/locale.tsx'
import { Note, StateBar } from '../parts/blocks.tsx'
import { PaymentList } from '../parts/payment-list.tsx'
import { Steps } from '../parts/steps.tsx'

/** Blocks are drawn one by one up to here, beyond it as a bar. */
const BLOCKS_MAX = 24
/** Below this no estimate is shown. */
const PROMISE_MIN_MS = 10_000

/** "Payment received" first, then the progress of the network. */
export function ConfirmingStep({
  view,
  paymentMethod,
  now,
}: {
  readonly view: InvoiceView
  readonly paymentMethod: PaymentMethodView
  readonly now: number
}) {
  const { say } = useSpeech()
  const { have, need } = slowest(view) ?? {
    have: paymentMethod.requiredConfirmations,
    need: paymentMethod.requiredConfirmations,
  }
  const leftMs = Math.max((need - have) * paymentMethod.blockTimeMs, untilFinalMs(view, paymentMethod, now))
  const counts = { a: have, b: need }
  return (
    <>
      <Steps names={['step.coin', 'step.pay', 'step.confirm']} at={2} />
      <h1 tabIndex={-1}>{say('confirming')}</h1>
      <p class="sub">
        {leftMs < PROMISE_MIN_MS ? say('confirming.soon') : say('confirming.time', { t: secondsText(leftMs) })}
      </p>
      {view.isPaidLate && (
        <Note tone="partial" icon="clock">
          {say('late.ok')}
        </Note>
      )}
      {view.payments.some(isGone) && (
        <Note tone="expired" icon="info">
          {say('stepback')}
        </Note>
      )}
      <p class="meter-text">
        <span>{say('confirming.on', { n: NETWORKS[paymentMethod.network].name })}</span>
        <b>{say('of', counts)}</b>
      </p>
      {need <= BLOCKS_MAX ? (
        <div class="weave" role="img" aria-label={say('confirmations', counts)}>
          {Array.from({ length: need }, (_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the blocks have no other key
            <i key={index} class={index < have ? 'on' : index === have ? 'next' : ''} />
          ))}
        </div>
      ) : (
        <progress class="meter confirming" value={have} max={need} aria-label={say('confirmations', counts)} />
      )}
      <PaymentList view={view} now={now} />
      <Note tone="confirming" icon="shield">
        <b>{say('close')}</b> <Say w="close.more" m={<Foreign text={view.merchant.name} />} />
      </Note>
      <StateBar tone="confirming" icon="blocks" title={say('confirming.bar', counts)}>
        {say('confirming.sub', { a: view.received, c: paymentMethod.symbol })}
      </StateBar>
    </>
  )
}

/** Where a block must be final too: the rest of the usual time since the last payment was seen. */
function untilFinalMs(view: InvoiceView, paymentMethod: PaymentMethodView, now: number): number {
  if (!paymentMethod.needsFinality) return 0
  const seenAt = view.payments.filter((payment) => payment.state === 'detected').map((payment) => payment.seenAt)
  return Math.max(...seenAt.map((at) => at + paymentMethod.confirmMs - now), 0)
}

/** Seconds in tens up to two minutes, whole minutes beyond. */
function secondsText(ms: number): string {
  return ms < 120_000 ? `${Math.ceil(ms / 10_000) * 10} s` : roughText(ms)
}
