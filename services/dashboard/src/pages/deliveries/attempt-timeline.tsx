import { showDuration } from '../../format/time.ts'
import { Ladder, type Step } from '../../parts/ladder.tsx'
import { Time } from '../../parts/time.tsx'
import { answerLabel } from '../webhooks/labels.tsx'
import { PhaseBar, PhaseLegend, type Phases } from '../webhooks/phase-bar.tsx'

export interface PastAttempt {
  readonly number: number
  readonly at: number
  readonly durationMs: number
  readonly statusCode: number | null
  readonly error: string | null
  readonly phases: Phases | null
}

export interface ComingAttempt {
  readonly number: number
  readonly at: number | null
  readonly delayMs: number
}

/** All attempts of a delivery: past ones with the duration of each phase, future ones with their times. */
export function AttemptTimeline(props: {
  readonly past: readonly PastAttempt[]
  readonly future: readonly ComingAttempt[]
  readonly attemptsMax: number
  readonly inFlight: boolean
}) {
  const { past, future, attemptsMax, inFlight } = props
  const scaleMs = Math.max(1, ...past.map(({ durationMs }) => durationMs))
  const steps: Step[] = [
    ...past.map((attempt, index): Step => {
      const { number, at, durationMs, statusCode, error, phases } = attempt
      const last = past[index - 1]
      const pause = last === undefined ? 'immediately' : pauseLabel(at - last.at - last.durationMs)
      return {
        // A request whose lease was lost has the same number as the following one.
        key: `past-${index}`,
        mark: number,
        tone: error === null ? 'paid' : 'danger',
        state: 'past',
        children: (
          <div className="pm-rung">
            <Time at={at} detail />
            <b className={error === null ? undefined : 'pm-bad'}>
              {answerLabel({ lastStatusCode: statusCode, lastError: error })}
            </b>
            <span className="pm-muted">{pause}</span>
            <PhaseBar phases={phases} totalMs={durationMs} scaleMs={scaleMs} />
            <span className="pm-rung-ms">{durationMs} ms</span>
          </div>
        ),
      }
    }),
    ...future.map(({ number, at, delayMs }, index): Step => {
      const next = index === 0
      const pause = pauseLabel(delayMs)
      return {
        key: `future-${number}`,
        mark: number,
        tone: next ? 'partial' : 'new',
        state: next ? 'next' : 'future',
        children: (
          <div className="pm-rung">
            {at === null ? <span>{next && inFlight ? 'now' : '–'}</span> : <Time at={at} detail={next} />}
            {next ? <b>{inFlight ? 'Sending' : 'Next'}</b> : <span />}
            <span className="pm-rung-rest">{number === attemptsMax ? `${pause}, then marked failed` : pause}</span>
          </div>
        ),
      }
    }),
  ]
  return (
    <div>
      <Ladder label="Attempts" steps={steps} />
      {past.length === 0 ? null : <PhaseLegend />}
    </div>
  )
}

/** Scheduled pauses last a minute or more; shorter ones are the time until the dispatcher handled it. */
function pauseLabel(ms: number): string {
  return ms < 5_000 ? 'immediately' : `after ${showDuration(ms)}`
}
