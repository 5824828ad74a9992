import { Fragment, type ReactNode } from 'react'
import { revealHidden } from '../format/reveal-hidden.ts'
import { showDuration, showTime } from '../format/time.ts'
import { Hint } from './hint.tsx'
import { useNow } from './use-now.ts'

/** The time zone of all times on the pages: that of this browser. */
export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

const ISO_TEXT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/

type Moment = number | string

const toMs = (at: Moment) => (typeof at === 'number' ? at : Date.parse(at))

/** A moment, in ms or ISO, in the operator's time zone; UTC is shown on hover and focus. `detail` adds seconds. Null is a dash. */
export function Time({ at, detail }: { readonly at: Moment | null | undefined; readonly detail?: boolean }) {
  const now = useNow(60_000)
  if (at === null || at === undefined) return <span className="pm-dim">–</span>
  const ms = toMs(at)
  const utc = new Date(ms).toISOString()
  return (
    <Hint label={`${utc.slice(0, 10)} ${utc.slice(11, 19)} UTC`}>
      <time dateTime={utc} className="pm-num pm-nowrap">
        {showTime(ms, { zone: ZONE, now, detail })}
      </time>
    </Hint>
  )
}

/** Time since a moment: `4 min 12 s`. Updates itself; add "ago" behind it. */
export function Since({ at, stepMs = 1_000 }: { readonly at: number; readonly stepMs?: number }) {
  return <Duration ms={useNow(stepMs) - at} />
}

interface UntilProps {
  readonly at: number
  readonly past?: ReactNode
  readonly children: (left: ReactNode) => ReactNode
}

/** Says what is to come with the time until then, and from that moment on what is `past`, whether or not anything was read again. */
export function Until({ at, past = null, children }: UntilProps) {
  const left = at - useNow(1_000)
  return left > 0 ? children(<Duration ms={left} />) : past
}

function Duration({ ms }: { readonly ms: number }) {
  return <span className="pm-num pm-nowrap">{showDuration(Math.max(1_000, ms))}</span>
}

/** A sentence of the server with its times in the operator's time zone. */
export function WithTimes({ text }: { readonly text: string }) {
  const parts = text.split(ISO_TEXT)
  return (
    <>
      {parts.map((part, index) => {
        // Sentences do not change their order, so the index is a valid key.
        const key = `${index}`
        return <Fragment key={key}>{ISO_TEXT.test(part) ? <Time at={part} detail /> : revealHidden(part)}</Fragment>
      })}
    </>
  )
}
