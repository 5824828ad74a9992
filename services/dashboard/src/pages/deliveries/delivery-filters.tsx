import { useMemo } from 'react'
import { EVENT_TYPES, type EventType } from '#shared/domain/enumerations.ts'
import { endpointName } from '#shared/domain/webhook/endpoint-name.ts'
import { serverTime } from '../../first/server-time.ts'
import { type ChoiceFilter, chipOf } from '../../parts/table/filter-chip.ts'
import { Choices, ListFilters, SearchField } from '../../parts/table/list-filters.tsx'

/** Filters of the list of deliveries in the URL. */
export const DELIVERY_FILTERS = { q: '', status: 'all', endpoint: 'all', type: 'all', period: 'any' }

const STATUSES = [
  { value: 'all', label: 'Any status' },
  { value: 'failed', label: 'Failed' },
  { value: 'pending', label: 'Queued or retrying' },
  { value: 'held', label: 'Paused' },
  { value: 'succeeded', label: 'Delivered' },
] as const
const TYPES = [{ value: 'all', label: 'Any event' }, ...EVENT_TYPES.map((type) => ({ value: type, label: type }))]
/** By their days. */
const PERIODS = [
  { value: 'any', label: 'Any time' },
  { value: '1', label: 'Last 24 hours' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
] as const
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** The query to the server; a period begins at a whole minute, so that the query stays the same for a while. */
export function useDeliverySearch({ q, status, endpoint, type, period }: typeof DELIVERY_FILTERS) {
  return useMemo(() => {
    const days = Number(PERIODS.find(({ value }) => value === period)?.value)
    const known = STATUSES.find(({ value }) => value === status)?.value ?? 'all'
    const from = days > 0 ? Math.floor(serverTime() / MINUTE_MS) * MINUTE_MS - days * DAY_MS : null
    return {
      q,
      status: known === 'all' ? null : known,
      endpointId: endpoint === 'all' ? null : endpoint,
      eventType: EVENT_TYPES.find((each): each is EventType => each === type) ?? null,
      from,
    }
  }, [q, status, endpoint, type, period])
}

interface DeliveryFiltersProps {
  readonly filters: typeof DELIVERY_FILTERS
  readonly set: (change: Partial<typeof DELIVERY_FILTERS>) => void
  readonly endpoints: readonly { readonly id: string; readonly url: string; readonly description: string | null }[]
}

/** What narrows the list of deliveries, and a chip for each filter that does. */
export function DeliveryFilters({ filters, set, endpoints }: DeliveryFiltersProps) {
  const ofEndpoints = [
    { value: 'all', label: 'Any endpoint' },
    ...endpoints.map((endpoint) => ({ value: endpoint.id, label: endpointName(endpoint) })),
  ]
  const choices: readonly ChoiceFilter<keyof typeof DELIVERY_FILTERS>[] = [
    { name: 'status', label: 'Status', options: STATUSES },
    { name: 'endpoint', label: 'Endpoint', options: ofEndpoints },
    { name: 'type', label: 'Event type', options: TYPES },
    { name: 'period', label: 'Time', options: PERIODS },
  ]
  const chips = [
    ...chipOf(filters, DELIVERY_FILTERS, 'q', 'Search'),
    ...choices.flatMap(({ name, label, options }) => chipOf(filters, DELIVERY_FILTERS, name, label, options)),
  ]
  return (
    <ListFilters
      chips={chips}
      remove={set}
      search={
        <SearchField
          label="Event, endpoint, delivery, or what finds an invoice"
          placeholder="Event, endpoint, invoice, order…"
          value={filters.q}
          onSearch={(q) => set({ q })}
        />
      }
    >
      <Choices of={choices} filters={filters} set={set} />
    </ListFilters>
  )
}
