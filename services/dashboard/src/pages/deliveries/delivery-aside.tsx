import { Button } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { Link } from 'react-router'
import { hostAndPath } from '#shared/domain/webhook/endpoint-name.ts'
import { api, trpc } from '../../api/trpc.ts'
import { serverTime } from '../../first/server-time.ts'
import { announce } from '../../frame/announcer.tsx'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Facts, Note } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { Aside } from '../../parts/dialog/aside.tsx'
import { QueryView } from '../../parts/query-view.tsx'
import { Time, Until } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useMay, useScope, useTo } from '../../session/scope.ts'
import { CodeBlock } from '../webhooks/code-block.tsx'
import { DeliveryBadge } from '../webhooks/labels.tsx'
import { PauseButton } from '../webhooks/pause-button.tsx'
import { prettyJson } from '../webhooks/pretty-json.ts'
import { AttemptTimeline } from './attempt-timeline.tsx'
import { curlOf } from './curl.ts'

/** Loaded with the first delivery that is opened: the list is shown without it. */
const AttemptDifferences = lazy(async () => ({
  default: (await import('./attempt-differences.tsx')).AttemptDifferences,
}))

/** While a delivery is in progress its page polls this often, in addition to live signals. */
const POLL_EVERY_MS = 2_000

type Detail = Awaited<ReturnType<typeof api.deliveries.get.query>>
type Row = Detail['delivery']

/** One delivery: history, next attempt, and resending. Esc closes it and returns the focus to the row. */
export function DeliveryAside({ deliveryId, onClose }: { readonly deliveryId: string; readonly onClose: () => void }) {
  const scope = useScope()
  const detail = useQuery(
    trpc.deliveries.get.queryOptions(
      { ...scope, deliveryId },
      { refetchInterval: ({ state }) => (isMoving(state.data?.delivery) ? POLL_EVERY_MS : false) },
    ),
  )
  return (
    <Aside
      what="delivery"
      id={deliveryId}
      title={detail.data?.delivery.eventType}
      sub={detail.data === undefined ? null : <Subject row={detail.data.delivery} />}
      beside={detail.data === undefined ? null : <DeliveryBadge {...detail.data.delivery} />}
      onClose={onClose}
    >
      <QueryView query={detail} what="the delivery">
        {(data) => <Body detail={data} />}
      </QueryView>
    </Aside>
  )
}

/** True while its state may change within seconds. */
function isMoving(row: Row | undefined): boolean {
  return row?.status === 'pending' && (row.inFlight || row.dueAt < serverTime() + 5_000)
}

function Subject({ row }: { readonly row: Row }) {
  const to = useTo()
  const { invoiceId, invoiceNumber, endpointUrl, endpointId } = row
  const host = <b>{hostAndPath(endpointUrl)}</b>
  return (
    <p className="pm-muted">
      {invoiceId === null ? null : (
        <>
          Invoice <Link to={to('invoices', invoiceId)}>
            {invoiceNumber === null ? 'deleted' : `#${invoiceNumber}`}
          </Link>{' '}
        </>
      )}
      to {endpointUrl === null ? host : <Link to={to('webhooks/endpoints', endpointId)}>{host}</Link>}
    </p>
  )
}

function Body({ detail }: { readonly detail: Detail }) {
  const { delivery, past, future, attemptsMax, endpointStatus, request } = detail
  const last = past.at(-1)
  const to = useTo()
  const newest = detail.generations.at(-1)
  return (
    <>
      <Sentence detail={detail} />
      <Actions detail={detail} />
      {newest !== undefined && newest.id !== delivery.id ? (
        <p>
          Resent since: <Link to={to('webhooks/deliveries', newest.id)}>the newest delivery of this event</Link>.
        </p>
      ) : null}
      <section>
        <h3>Attempts</h3>
        <AttemptTimeline past={past} future={future} attemptsMax={attemptsMax} inFlight={delivery.inFlight} />
        {past.length < delivery.attempt ? <p className="pm-dim pm-small">Attempts are kept for 30 days.</p> : null}
      </section>
      <Suspense fallback={null}>
        <AttemptDifferences past={past} />
      </Suspense>
      {last === undefined ? null : (
        <section>
          <h3>Response to attempt {last.number}</h3>
          {last.explanation === null ? null : <p className="pm-muted">{last.explanation}</p>}
          <CodeBlock label="Response">
            {last.statusCode === null ? 'No response.' : `HTTP ${last.statusCode}`}
            {last.responseBody === '' ? null : (
              <>
                {'\n\n'}
                <UntrustedText>{last.responseBody}</UntrustedText>
              </>
            )}
          </CodeBlock>
        </section>
      )}
      {request === null ? (
        <p className="pm-dim">The event was deleted: events are kept for 180 days.</p>
      ) : (
        <details>
          <summary className="pm-summary">Request</summary>
          <CodeBlock label="Request as sent">
            {Object.entries(request.headers)
              .map(([name, value]) => `${name}: ${value}`)
              .join('\n')}
            {'\n\n'}
            <UntrustedText>{prettyJson(request.body)}</UntrustedText>
          </CodeBlock>
          {request.cut ? <p className="pm-dim">The body is truncated here.</p> : null}
        </details>
      )}
      <Facts
        facts={[
          ['Delivery', <CopyText key="d" text={delivery.id} what="delivery ID" short />],
          ['Event', <CopyText key="e" text={delivery.eventId} what="event ID" short />],
          ['Created', <Time key="m" at={delivery.createdAt} detail />],
          endpointStatus === 'disabled' ? ['Endpoint', 'paused'] : null,
        ]}
      />
    </>
  )
}

function Sentence({ detail: { delivery, past, future, attemptsMax } }: { readonly detail: Detail }) {
  const { status, explanation, attempt, finishedAt, inFlight } = delivery
  const [next] = future
  if (status === 'succeeded') {
    const took = past.at(-1)?.durationMs
    return (
      <Note tone="paid">
        <p>
          Delivered at <Time at={finishedAt} detail />
          {took === undefined ? null : ` in ${took} ms`}
          {attempt > 1 ? `, on attempt ${attempt}` : null}. Nothing to do.
        </p>
      </Note>
    )
  }
  if (status === 'failed') {
    return (
      <Note tone="danger">
        <p>
          {explanation} All {attemptsMax} attempts failed, so there are no more automatic retries. Fix the receiver,
          then resend.
        </p>
      </Note>
    )
  }
  if (status === 'held') {
    return (
      <Note tone="new">
        <p>The endpoint is paused. Delivery resumes when you resume the endpoint.</p>
      </Note>
    )
  }
  return (
    <Note tone={attempt === 0 ? 'pending' : 'partial'}>
      <p>
        {explanation === null ? null : `${explanation} `}
        {inFlight ? (
          'Sending now.'
        ) : next?.at === null || next === undefined ? null : (
          <>
            {attempt === 0 ? 'First attempt at ' : 'Next attempt at '}
            <Time at={next.at} detail />
            <Until at={next.at}>{(left) => <>, in {left}</>}</Until>. After attempt {attemptsMax} it is marked failed.
          </>
        )}
      </p>
    </Note>
  )
}

function Actions({ detail: { delivery, endpointStatus, request } }: { readonly detail: Detail }) {
  const scope = useScope()
  const to = useTo()
  const maySend = useMay('support')
  const resend = useAction({
    call: (ids, input: { readonly deliveryId: string }) => api.deliveries.resend.mutate({ ...scope, ...ids, ...input }),
    done: 'Resent as a new delivery of the same event.',
    refresh: [trpc.deliveries.pathFilter()],
  })
  const gone = request === null || endpointStatus === null
  const refusal = !maySend
    ? 'Requires the Support role.'
    : gone
      ? 'The endpoint or the event was deleted.'
      : endpointStatus === 'disabled'
        ? 'The endpoint is paused: resume it first.'
        : null
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(
        curlOf(delivery.endpointUrl ?? '', request?.headers ?? {}, request?.body ?? ''),
      )
      announce('Copied as cURL')
    } catch {
      announce('The browser did not allow copying.')
    }
  }
  return (
    <div className="pm-row">
      <ActionButton
        action={resend}
        input={{ deliveryId: delivery.id }}
        refusal={refusal}
        leftSection={<IconRefresh size={16} aria-hidden />}
      >
        Resend now
      </ActionButton>
      {gone ? null : (
        <Button variant="default" onClick={() => void copy()}>
          Copy as cURL
        </Button>
      )}
      {endpointStatus === null ? null : (
        <PauseButton
          endpointId={delivery.endpointId}
          status={endpointStatus}
          host={hostAndPath(delivery.endpointUrl)}
        />
      )}
      <Link className="pm-link" to={`${to('webhooks/events')}?event=${encodeURIComponent(delivery.eventId)}`}>
        Event and what changed
      </Link>
    </div>
  )
}
