import { useEffect, useRef } from 'preact/hooks'
import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { durationText, roughText } from '../format/format-values.ts'
import { timeLeft } from '../format/step.ts'
import { useSpeech } from '../locales/locale.tsx'
import { useAnnounce } from '../parts/announcer.tsx'
import { Icon } from '../parts/icon.tsx'
import type { Action } from './use-action.ts'

const MINUTE_MS = 60_000

/** How much longer the quote is valid: quietly and in whole minutes from the start, by the second in the last third, and announced then and once a minute before its end. */
export function PriceClock({
  view,
  now,
  actionId,
}: {
  readonly view: InvoiceView
  readonly now: number
  readonly actionId: Action
}) {
  const { say } = useSpeech()
  const announce = useAnnounce()
  const said = useRef('')
  const left = timeLeft(view, now)
  const isShown = left?.isShown === true
  const ms = left?.ms ?? 0
  const phase = !isShown ? '' : ms <= MINUTE_MS ? 'minute' : 'third'
  useEffect(() => {
    const mark = `${view.paymentMethod?.quoteEndsAt} ${phase}`
    if (phase === '' || said.current === mark) return
    said.current = mark
    announce(phase === 'minute' ? say('say.minute') : say('say.left', { t: roughText(ms) }))
  })
  if (!isShown) return ms > 0 ? <p class="sub">{say('held', { t: roughText(ms) })}</p> : null
  return (
    <div class="clock">
      <Icon name="clock" />
      <span>{say('held', { t: durationText(ms) })}</span>
      {view.canRenew && (
        <button
          type="button"
          class="button"
          aria-disabled={actionId.isBusy}
          aria-busy={actionId.isBusy}
          onClick={() => void actionId.run('price', {}, null)}
        >
          {say('requote.do')}
        </button>
      )}
      {actionId.problem !== null && <p role="alert">{actionId.problem}</p>}
    </div>
  )
}
