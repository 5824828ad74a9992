import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { trpc } from '../../api/trpc.ts'
import { serverTime } from '../../first/server-time.ts'
import { showTime } from '../../format/time.ts'
import { LoadError } from '../../parts/load-error.tsx'
import { ZONE } from '../../parts/time.tsx'
import { useScope } from '../../session/scope.ts'
import { DiffTable } from '../webhooks/diff-table.tsx'
import { diffJson } from '../webhooks/json-diff.ts'

/** Events of one invoice that can be compared. */
const EVENTS_MAX = 100

/** What changed in the body since another event of the same invoice: at first the one before. */
export function EventDifferences(props: {
  readonly eventId: string
  readonly invoiceId: string
  readonly type: string
  readonly body: string
}) {
  const { eventId, invoiceId, type, body } = props
  const scope = useScope()
  const [chosen, setChosen] = useState<string | null>(null)
  const events = useQuery(trpc.deliveries.events.queryOptions({ ...scope, q: invoiceId, limit: EVENTS_MAX }))
  // Newest first: the one before follows in the list.
  const items = events.data?.items ?? []
  const place = items.findIndex(({ id }) => id === eventId)
  const others = items.filter(({ id }) => id !== eventId)
  const baseId = chosen ?? (place === -1 ? undefined : items[place + 1]?.id) ?? null
  const base = useQuery({
    ...trpc.deliveries.event.queryOptions({ ...scope, eventId: baseId ?? '' }),
    enabled: baseId !== null,
  })
  if (events.data === undefined || (baseId === null && others.length === 0)) return null
  const changes = base.data === undefined ? null : diffJson(base.data.body, body)
  return (
    <section>
      <h3>What changed since</h3>
      <NativeSelect
        size="xs"
        aria-label="Compare with the event"
        data={[
          ...(baseId === null ? [{ value: '', label: 'Choose an event' }] : []),
          ...others.map((one) => ({
            value: one.id,
            label: `${one.type}, ${showTime(one.createdAt, { zone: ZONE, now: serverTime(), detail: true })}`,
          })),
        ]}
        value={baseId ?? ''}
        onChange={({ currentTarget }) => setChosen(currentTarget.value === '' ? null : currentTarget.value)}
      />
      {base.isError ? <LoadError what="the other event" error={base.error} /> : null}
      {baseId === null ? <p className="pm-muted">This is the first event of its invoice.</p> : null}
      {changes === null || base.data === undefined ? null : changes.length === 0 ? (
        <p>Nothing in the body.</p>
      ) : (
        <DiffTable
          label="Changes of the body"
          nameHeader="Field"
          sides={base.data.event.type === type ? ['Before', 'This event'] : [base.data.event.type, type]}
          rows={changes.map(({ path, before, after }) => ({ name: path === '' ? 'body' : path, before, after }))}
        />
      )}
    </section>
  )
}
