import { NativeSelect } from '@mantine/core'
import { IconBell, IconCoin, IconSend, IconUser, type TablerIcon } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { trpc } from '../../api/trpc.ts'
import { bindText } from '../../parts/bind-text.ts'
import { Card } from '../../parts/card.tsx'
import { QueryView } from '../../parts/query-view.tsx'
import { Time, WithTimes } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useScope, useTo } from '../../session/scope.ts'
import type { TimelineEntry } from '../money/answers.ts'
import { groupStory } from './group-story.ts'

const KINDS = [
  { value: 'all', label: 'All' },
  { value: 'payment', label: 'Payments' },
  { value: 'event', label: 'Events' },
  { value: 'delivery', label: 'Deliveries' },
  { value: 'audit', label: 'Audit' },
]
const ICONS: Readonly<Record<TimelineEntry['kind'], TablerIcon>> = {
  payment: IconCoin,
  event: IconBell,
  delivery: IconSend,
  audit: IconUser,
}
const TONES = { good: 'paid', bad: 'danger', plain: 'new' } as const

/** The history of an invoice, newest first. */
export function Timeline({ invoiceId }: { readonly invoiceId: string }) {
  const scope = useScope()
  const [kind, setKind] = useState('all')
  const story = useQuery(trpc.invoices.timeline.queryOptions({ ...scope, id: invoiceId }))
  return (
    <Card
      title="Timeline"
      beside={<NativeSelect size="xs" aria-label="Show" data={KINDS} {...bindText(kind, setKind)} />}
    >
      <QueryView query={story} what="the timeline">
        {(entries) => <Moments entries={entries} kind={kind} />}
      </QueryView>
    </Card>
  )
}

function Moments({ entries, kind }: { readonly entries: readonly TimelineEntry[]; readonly kind: string }) {
  const { moments, deliveriesOf } = groupStory(entries, kind)
  if (moments.length === 0) return <p className="pm-muted">Nothing here yet.</p>
  return (
    <ol className="pm-story pm-num">
      {moments.map((entry) => (
        <Moment key={entry.id} entry={entry} deliveries={deliveriesOf(entry)} />
      ))}
    </ol>
  )
}

function Moment(props: { readonly entry: TimelineEntry; readonly deliveries: readonly TimelineEntry[] }) {
  const { entry, deliveries } = props
  const to = useTo()
  const Icon = ICONS[entry.kind]
  const { id, at, tone, detail, event } = entry
  return (
    <li>
      <Time at={at} detail />
      <span className={`pm-check-mark tone-${TONES[tone]}`} aria-hidden>
        <Icon size={14} />
      </span>
      <div>
        <p className="pm-check-title">
          <Title entry={entry} />
        </p>
        {event === null || entry.kind === 'delivery' ? null : (
          <p className="pm-small">
            <Link className="pm-mono" to={`${to('webhooks/events')}?event=${encodeURIComponent(event.id)}`}>
              {event.type}
            </Link>
          </p>
        )}
        {deliveries.length > 0 ? (
          <Deliveries key={id} deliveries={deliveries} />
        ) : detail === null ? null : (
          <p className="pm-muted">
            <WithTimes text={detail} />
          </p>
        )}
      </div>
    </li>
  )
}

/** The deliveries of an event, behind their sum until somebody opens them: what failed is counted in it. */
function Deliveries({ deliveries }: { readonly deliveries: readonly TimelineEntry[] }) {
  const failing = deliveries.filter(({ tone }) => tone === 'bad').length
  const many = deliveries.length === 1 ? '1 delivery' : `${deliveries.length} deliveries`
  return (
    <details className="pm-story-more">
      <summary className="pm-small">{failing === 0 ? many : `${many}, ${failing} not successful`}</summary>
      <ul className="pm-plain">
        {deliveries.map((delivery) => (
          <li key={delivery.id} className={delivery.tone === 'bad' ? 'pm-bad' : undefined}>
            <Title entry={delivery} />
            {delivery.detail === null ? null : (
              <span className="pm-muted">
                {' '}
                · <WithTimes text={delivery.detail} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </details>
  )
}

function Title({ entry: { kind, link, title } }: { readonly entry: TimelineEntry }) {
  const to = useTo()
  if (kind === 'delivery' && link !== null) return <Link to={to('webhooks/deliveries', link)}>{title}</Link>
  return <UntrustedText>{title}</UntrustedText>
}
