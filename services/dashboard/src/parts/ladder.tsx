import type { ReactNode } from 'react'
import type { Tone } from '#shared/contracts/tone.ts'

/** One step: past ones have a tone, future ones are pale. */
export interface Step {
  readonly key: string
  /** In the circle: a number or an icon. */
  readonly mark: ReactNode
  readonly tone: Tone
  readonly state: 'past' | 'next' | 'future'
  /** The columns of a rung, or the content of a moment. */
  readonly children: ReactNode
}

/** Steps in a vertical line: attempts of a delivery, a timeline of an invoice. `label` names the list. */
export function Ladder({ label, steps }: { readonly label: string; readonly steps: readonly Step[] }) {
  return (
    <ol className="pm-ladder pm-num" aria-label={label}>
      {steps.map(({ key, mark, tone, state, children }) => (
        <li key={key} className={`pm-ladder-${state}`} aria-current={state === 'next' ? 'step' : undefined}>
          <span className={`pm-ladder-mark tone-${tone}`} aria-hidden>
            {mark}
          </span>
          <div className="pm-ladder-text">{children}</div>
        </li>
      ))}
    </ol>
  )
}
