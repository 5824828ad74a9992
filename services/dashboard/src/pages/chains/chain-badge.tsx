import type { api } from '../../api/trpc.ts'
import { StatusBadge, ToneBadge } from '../../parts/status-badge.tsx'

/** A chain in the server's list. */
export type Chain = Awaited<ReturnType<typeof api.chains.list.query>>['items'][number]

/** The state of a scanner in a word. */
export function ChainBadge({ chain: { status, hasNode } }: { readonly chain: Chain }) {
  if (!hasNode) return <ToneBadge tone="cancelled">No node</ToneBadge>
  if (status === 'never_scanned') return <ToneBadge tone="new">Not scanned yet</ToneBadge>
  return <StatusBadge of="system" status={status === 'catchup' ? 'catching_up' : status} />
}
