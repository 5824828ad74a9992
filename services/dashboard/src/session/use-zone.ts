import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api, trpc } from '../api/trpc.ts'
import { ZONE } from '../parts/time.tsx'
import { mayDo } from './roles.ts'
import { usePlace } from './scope.ts'
import { useSession } from './session.ts'

/** The time zone of the workspace's days and months, as the server has it: UTC until a browser gave its own. */
export function useZone(): string {
  const { workspaceId } = usePlace()
  return useSession().workspaces.find(({ id }) => id === workspaceId)?.timeZone || 'UTC'
}

/** Gives a workspace without a time zone that of the first browser whose person may change its settings. */
export function useZoneOfFirstBrowser(): void {
  const { workspaceId, mode, role } = usePlace()
  const { workspaces } = useSession()
  const client = useQueryClient()
  const isMissing = workspaces.some(({ id, timeZone }) => id === workspaceId && timeZone === '')
  const isMine = isMissing && mayDo(role, 'admin')
  useEffect(() => {
    if (!isMine) return
    const input = { workspaceId, mode, opId: crypto.randomUUID(), zone: ZONE }
    api.workspace.adoptZone
      .mutate(input)
      .then(() => client.invalidateQueries(trpc.auth.me.pathFilter()))
      // The next visit tries again.
      .catch(() => undefined)
  }, [isMine, workspaceId, mode, client])
}
