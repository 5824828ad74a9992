import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { hostAndPath } from '#shared/domain/webhook/endpoint-name.ts'
import { trpc } from '../../api/trpc.ts'
import { Facts } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { Aside } from '../../parts/dialog/aside.tsx'
import { QueryView } from '../../parts/query-view.tsx'
import { Time } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useScope, useTo } from '../../session/scope.ts'
import { CodeBlock } from '../webhooks/code-block.tsx'
import { DeliveryBadge } from '../webhooks/labels.tsx'
import { prettyJson } from '../webhooks/pretty-json.ts'
import { EventDifferences } from './event-differences.tsx'

/** One event: its deliveries, its body, and what changed in it since the one before. */
export function EventAside({ eventId, onClose }: { readonly eventId: string; readonly onClose: () => void }) {
  const scope = useScope()
  const to = useTo()
  const shown = useQuery(trpc.deliveries.event.queryOptions({ ...scope, eventId }))
  return (
    <Aside what="event" id={eventId} title={shown.data?.event.type} onClose={onClose}>
      <QueryView query={shown} what="the event">
        {(data) => (
          <>
            <section>
              <h3>Deliveries</h3>
              {data.deliveries.length === 0 ? (
                <p className="pm-muted">No endpoint was subscribed at the time.</p>
              ) : (
                <ul className="pm-plain">
                  {data.deliveries.map((row) => (
                    <li key={row.id} className="pm-row">
                      <DeliveryBadge {...row} />
                      <Link to={to('webhooks/deliveries', row.id)}>{hostAndPath(row.endpointUrl)}</Link>
                      <Time at={row.finishedAt ?? row.createdAt} />
                    </li>
                  ))}
                </ul>
              )}
            </section>
            {data.event.invoiceId === null ? null : (
              <EventDifferences
                key={eventId}
                eventId={eventId}
                invoiceId={data.event.invoiceId}
                type={data.event.type}
                body={data.body}
              />
            )}
            <section>
              <h3>Body</h3>
              <CodeBlock label="Body of the event">
                <UntrustedText>{prettyJson(data.body)}</UntrustedText>
              </CodeBlock>
            </section>
            <Facts
              facts={[
                ['Time', <Time key="t" at={data.event.createdAt} detail />],
                ['Event', <CopyText key="e" text={data.event.id} what="event ID" short />],
              ]}
            />
          </>
        )}
      </QueryView>
    </Aside>
  )
}
