import type { api } from '../../api/trpc.ts'
import { StatusBadge, ToneBadge } from '../../parts/status-badge.tsx'

/** An endpoint as the server lists it. */
export type Endpoint = Awaited<ReturnType<typeof api.endpoints.list.query>>['items'][number]

/** How an endpoint does, in a word. */
export function HealthBadge({ verdict }: { readonly verdict: Endpoint['health']['verdict'] }) {
  if (verdict === 'unused') return <ToneBadge tone="new">Not used yet</ToneBadge>
  return <StatusBadge of="endpoint" status={verdict} />
}
