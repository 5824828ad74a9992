import { serverTime } from '../../first/server-time.ts'
import { showCount } from '../../format/amounts.ts'
import { showDuration } from '../../format/time.ts'
import { Facts, Note } from '../../parts/card.tsx'
import type { Chain } from './chain-badge.tsx'

type Scan = NonNullable<Chain['scan']>

/** How a network is scanned, for which open payment methods, and when its node is asked next. */
export function ScanFacts({ scan }: { readonly scan: Scan }) {
  const { source, choice, isResting, nextLookAt, nextLooks, reason } = scan
  return (
    <section>
      <h3>Scanning</h3>
      <Facts
        facts={[
          ['Source', source === 'full' ? 'Full: every block' : `Thrifty${isResting ? ', resting' : ''}`],
          ['Open payment methods', openText(scan)],
          nextLookAt === null ? null : ['Next look', untilText(nextLookAt)],
          ...(nextLooks === null
            ? []
            : ([
                [
                  'Invoices ended in the last day',
                  `${untilText(nextLooks.endedAt)}; up to block ${nextLooks.endedHeight}`,
                ],
                ['All addresses', `${untilText(nextLooks.allAt)}; up to block ${nextLooks.allHeight}`],
              ] as const)),
        ]}
      />
      <p className="pm-muted">{reason}</p>
      {choice === null ? null : <Choice choice={choice} isTaken={choice.source === source} />}
    </section>
  )
}

/** Why the network is scanned so, or that the scanner still has to be started with the settings that ask for another mode. */
function Choice({ choice, isTaken }: { readonly choice: NonNullable<Scan['choice']>; readonly isTaken: boolean }) {
  if (isTaken) return <p className="pm-muted">{choice.why}</p>
  return (
    <Note tone="pending">
      <p>
        The settings choose {choice.source} mode. {choice.why} The scanner changes to it when it is started with these
        settings.
      </p>
    </Note>
  )
}

function openText({ open, isComplete }: Scan): string {
  if (open.length === 0) return 'none'
  const names = open.map(({ asset, methods }) => `${showCount(methods)} ${asset}`).join(', ')
  return isComplete ? names : `more than ${names}`
}

const untilText = (at: number): string => (at <= serverTime() ? 'now' : `in ${showDuration(at - serverTime())}`)
