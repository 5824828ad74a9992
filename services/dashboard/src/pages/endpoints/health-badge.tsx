import type { api } from '../../api/trpc.ts'
import { StatusBadge } from '../../parts/status-badge.tsx'

/** An endpoint in the server's list. */
export type Endpoint = Awaited<ReturnType<typeof api.endpoints.list.query>>['items'][number]

/** The health of an endpoint in a word. */
export function HealthBadge({ state }: { readonly state: Endpoint['health']['state'] }) {
  return <StatusBadge of="endpoint" status={state} />
}
