import { SegmentedControl } from '@mantine/core'
import { IconBell, IconCoin, IconSend, IconUser, type TablerIcon } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { trpc } from '../../api/trpc.ts'
import { Card } from '../../parts/card.tsx'
import { LoadError } from '../../parts/load-error.tsx'
import { RowsSkeleton } from '../../parts/page-skeleton.tsx'
import { Time } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useScope, useTo } from '../../session/scope.ts'
import type { TimelineEntry } from '../money/answers.ts'
import { WithTimes } from '../money/with-times.tsx'

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
  const shown = (story.data ?? []).filter((entry) => kind === 'all' || entry.kind === kind)
  return (
    <Card
      title="Timeline"
      beside={
        <div className="pm-scroll-x">
          <SegmentedControl size="xs" aria-label="Show" data={KINDS} value={kind} onChange={setKind} />
        </div>
      }
    >
      {story.data === undefined ? (
        story.isPending ? (
          <RowsSkeleton rows={5} />
        ) : (
          <LoadError what="the timeline" error={story.error} onRetry={() => void story.refetch()} />
        )
      ) : shown.length === 0 ? (
        <p className="pm-muted">Nothing here yet.</p>
      ) : (
        <ol className="pm-story pm-num">
          {shown.map((entry) => (
            <Moment key={entry.id} entry={entry} />
          ))}
        </ol>
      )}
    </Card>
  )
}

function Moment({ entry }: { readonly entry: TimelineEntry }) {
  const to = useTo()
  const Icon = ICONS[entry.kind]
  const title =
    entry.kind === 'delivery' && entry.link !== null ? (
      <Link to={to('webhooks/deliveries', entry.link)}>{entry.title}</Link>
    ) : (
      <UntrustedText>{entry.title}</UntrustedText>
    )
  return (
    <li>
      <Time at={entry.at} detail />
      <span className={`pm-check-mark pm-tone-${TONES[entry.tone]}`} aria-hidden>
        <Icon size={14} />
      </span>
      <div>
        <p className="pm-check-title">{title}</p>
        {entry.detail === null ? null : (
          <p className="pm-muted">
            <WithTimes text={entry.detail} />
          </p>
        )}
      </div>
    </li>
  )
}
