import { useQuery } from '@tanstack/react-query'
import type { Mode } from '#shared/domain/enumerations.ts'
import { trpc } from '../api/trpc.ts'

/** How many exceptions wait for a decision, for the number in the navigation. 0 while unknown. */
export function useOpenExceptions({
  workspaceId,
  mode,
}: {
  readonly workspaceId: string
  readonly mode: Mode
}): number {
  const attention = useQuery(trpc.overview.attention.queryOptions({ workspaceId, mode }))
  return attention.data?.exceptions.count ?? 0
}
