import type { api } from '../../api/trpc.ts'
import { StatusBadge } from '../../parts/status-badge.tsx'

/** An endpoint as the server lists it. */
export type Endpoint = Awaited<ReturnType<typeof api.endpoints.list.query>>['items'][number]

/** How an endpoint does, in a word. */
export function HealthBadge({ state }: { readonly state: Endpoint['health']['state'] }) {
  return <StatusBadge of="endpoint" status={state} />
}
