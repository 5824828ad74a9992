import { useEffect } from 'react'
import { api } from '../api/trpc.ts'
import { ZONE } from '../parts/time.tsx'
import { mayDo } from './roles.ts'
import { usePlace } from './scope.ts'
import { useSession } from './session.ts'

/** The time zone of the workspace's days and months: that of this browser until it has one. */
export function useZone(): string {
  const { workspaceId } = usePlace()
  return useSession().workspaces.find(({ id }) => id === workspaceId)?.timeZone || ZONE
}

/** Gives a workspace without a time zone that of the first browser whose person may change its settings. */
export function useZoneOfFirstBrowser(): void {
  const { workspaceId, mode, role } = usePlace()
  const { workspaces } = useSession()
  const isMissing = workspaces.some(({ id, timeZone }) => id === workspaceId && timeZone === '')
  const isMine = isMissing && mayDo(role, 'admin')
  useEffect(() => {
    if (!isMine) return
    const input = { workspaceId, mode, opId: crypto.randomUUID(), zone: ZONE }
    // The next page tries again, and until then days are those of this browser.
    api.workspace.adoptZone.mutate(input).catch(() => undefined)
  }, [isMine, workspaceId, mode])
}
