import { useEffect, useRef } from 'preact/hooks'
import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { durationText, roughText } from '../format/format-values.ts'
import { timeLeft } from '../format/step.ts'
import { useAnnounce } from '../parts/announcer.tsx'
import { Icon } from '../parts/icon.tsx'
import { useSpeech } from '../words/words.tsx'
import type { Deed } from './use-deed.ts'

const MINUTE_MS = 60_000

/** How much longer the price holds: shown in the last third, said once then and once a minute before its end. */
export function PriceClock({
  view,
  now,
  deed,
}: {
  readonly view: InvoiceView
  readonly now: number
  readonly deed: Deed
}) {
  const { say } = useSpeech()
  const announce = useAnnounce()
  const said = useRef('')
  const left = timeLeft(view, now)
  const isShown = left?.isShown === true
  const ms = left?.ms ?? 0
  const phase = !isShown ? '' : ms <= MINUTE_MS ? 'minute' : 'third'
  useEffect(() => {
    const mark = `${view.lock?.quoteEndsAt} ${phase}`
    if (phase === '' || said.current === mark) return
    said.current = mark
    announce(phase === 'minute' ? say('say.minute') : say('say.left', { t: roughText(ms) }))
  })
  if (!isShown) return null
  return (
    <div class="clock">
      <Icon name="clock" />
      <span>{say('held', { t: durationText(ms) })}</span>
      {view.canRenew && view.status === 'pending' && (
        <button
          type="button"
          class="button"
          aria-disabled={deed.isBusy}
          aria-busy={deed.isBusy}
          onClick={() => void deed.run('price', {}, null)}
        >
          {say('requote.do')}
        </button>
      )}
      {deed.problem !== null && <p role="alert">{deed.problem}</p>}
    </div>
  )
}
