import { showCount } from '../../format/amounts.ts'
import { showDuration } from '../../format/time.ts'
import { Facts } from '../../parts/card.tsx'
import type { Chain } from './chain-badge.tsx'

type Scan = NonNullable<Chain['scan']>

/** How a network is scanned, for which open payment methods, and when its node is asked next. */
export function ScanFacts({ scan }: { readonly scan: Scan }) {
  const { source, isResting, nextLookAt, nextLooks, reason } = scan
  return (
    <section>
      <h3>Scanning</h3>
      <Facts
        facts={[
          ['Source', source === 'full' ? 'Full: every block' : `Thrifty${isResting ? ', resting' : ''}`],
          ['Open payment methods', openText(scan)],
          ...(nextLookAt === null ? [] : ([['Next look', untilText(nextLookAt)]] as const)),
          ...(nextLooks === null
            ? []
            : ([
                ['Invoices ended in the last day', untilText(nextLooks.endedAt)],
                ['All addresses', untilText(nextLooks.allAt)],
              ] as const)),
        ]}
      />
      <p className="pm-muted">{reason}</p>
    </section>
  )
}

function openText({ open, isComplete }: Scan): string {
  if (open.length === 0) return 'none'
  const names = open.map(({ asset, methods }) => `${showCount(methods)} ${asset}`).join(', ')
  return isComplete ? names : `more than ${names}`
}

const untilText = (at: number): string => (at <= Date.now() ? 'now' : `in ${showDuration(at - Date.now())}`)
