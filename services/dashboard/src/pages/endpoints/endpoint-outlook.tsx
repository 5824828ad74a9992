import { queuedText } from '../../format/amounts.ts'
import { Note } from '../../parts/card.tsx'
import { Time } from '../../parts/time.tsx'
import type { Endpoint } from './health-badge.tsx'

/** The health of an endpoint in a sentence, with its figures. */
export function EndpointOutlook({ endpoint: { health, status } }: { readonly endpoint: Endpoint }) {
  const { state, held } = health
  if (status === 'disabled') {
    return (
      <Note tone="new">
        <p>Paused. {held === 0 ? 'Nothing queued.' : `${held} deliveries continue when you resume it.`}</p>
      </Note>
    )
  }
  if (state === 'no_data') {
    return (
      <Note tone="pending">
        <p>No events sent yet. Send a test event to try it out.</p>
        <Waiting health={health} />
      </Note>
    )
  }
  return (
    <Note tone={({ healthy: 'paid', degraded: 'partial', failing: 'danger', paused: 'new' } as const)[state]}>
      <p>
        <Outlook health={health} />
      </p>
      <Waiting health={health} />
    </Note>
  )
}

/** What happened, and how to fix it. */
function Outlook({ health }: { readonly health: Endpoint['health'] }) {
  const { state, failed, lastSuccessAt } = health
  if (state === 'healthy') return <>Working.</>
  if (state === 'degraded') return <>Some deliveries need more than one attempt. Check the latest failures.</>
  return (
    <>
      {lastSuccessAt === null ? (
        'Nothing has been delivered yet. '
      ) : (
        <>
          Last successful delivery: <Time at={lastSuccessAt} />.{' '}
        </>
      )}
      Fix the receiver, then send a test event{failed === 0 ? '.' : ' and resend the missed events.'}
    </>
  )
}

/** The figures behind the state, in the same words for every state. */
function Waiting({ health }: { readonly health: Endpoint['health'] }) {
  const { tried, delivered, firstTry, failed, attempts, failedAttempts, waiting, retrying } = health
  return (
    <p className="pm-small pm-num">
      {tried === 0
        ? null
        : `Last ${tried}: ${delivered} delivered, ${firstTry} of them on the first attempt, ${failed} failed permanently. ${failedAttempts} of ${attempts} attempts failed. `}
      {waiting === 0 ? 'Nothing queued.' : `${queuedText(waiting, retrying)}.`}
    </p>
  )
}
