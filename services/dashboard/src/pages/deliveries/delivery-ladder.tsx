import { showDuration } from '../../format/time.ts'
import { Ladder, type Step } from '../../parts/ladder.tsx'
import { Time } from '../../parts/time.tsx'
import { PhaseBar, PhaseLegend, type Phases } from '../webhooks/phase-bar.tsx'
import { answerWord } from '../webhooks/words.tsx'

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

/** All attempts of a delivery: those made with where their time went, those to come with their times. */
export function DeliveryLadder(props: {
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
      const pause = last === undefined ? 'at once' : pauseWords(at - last.at - last.durationMs)
      return {
        // A request whose lease was lost has the number of the one that followed.
        key: `past-${index}`,
        mark: number,
        tone: error === null ? 'paid' : 'danger',
        state: 'past',
        children: (
          <div className="pm-rung">
            <Time at={at} detail />
            <b className={error === null ? undefined : 'pm-bad'}>
              {answerWord({ lastStatusCode: statusCode, lastError: error })}
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
      const pause = pauseWords(delayMs)
      return {
        key: `future-${number}`,
        mark: number,
        tone: next ? 'partial' : 'new',
        state: next ? 'next' : 'future',
        children: (
          <div className="pm-rung">
            {at === null ? <span>{next && inFlight ? 'now' : '–'}</span> : <Time at={at} detail={next} />}
            {next ? <b>{inFlight ? 'Sending' : 'Next'}</b> : <span />}
            <span className="pm-rung-rest">{number === attemptsMax ? `${pause}, then Failed` : pause}</span>
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

/** Pauses of the schedule are minutes and more; what is shorter is the time in which the dispatcher came to it. */
function pauseWords(ms: number): string {
  return ms < 5_000 ? 'at once' : `after ${showDuration(ms)}`
}
