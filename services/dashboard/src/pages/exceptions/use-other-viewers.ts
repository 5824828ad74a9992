import { useDocumentVisibility } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../../api/trpc.ts'
import { keepSubscribed } from '../../live/keep-subscribed.ts'
import { useScope } from '../../session/scope.ts'

/** Who looks something up in another tab comes back; a tab that stays behind is not in front of anybody, and a browser has few connections. */
const BEHIND_MS = 60_000

const NOBODY: readonly string[] = []

/** Names of the other people who have an entry of the inbox open, in order. Asking is what makes this person one of them, while the page is in front. */
export function useOtherViewers(id: string): readonly string[] {
  const client = useQueryClient()
  const { workspaceId, mode } = useScope()
  const inFront = useInFront()
  const [names, setNames] = useState(NOBODY)
  useEffect(() => {
    if (!inFront) return
    const end = keepSubscribed(client, (onError) =>
      api.exceptions.viewers.subscribe(
        { workspaceId, mode, id },
        {
          onData: setNames,
          onError: (error) => {
            setNames(NOBODY)
            onError(error)
          },
        },
      ),
    )
    return () => {
      end()
      setNames(NOBODY)
    }
  }, [client, workspaceId, mode, id, inFront])
  return names
}

/** Whether the page is shown, or was a minute ago. */
function useInFront(): boolean {
  const isShown = useDocumentVisibility() === 'visible'
  const [inFront, setInFront] = useState(!document.hidden)
  useEffect(() => {
    if (isShown) return setInFront(true)
    const timer = setTimeout(() => setInFront(false), BEHIND_MS)
    return () => clearTimeout(timer)
  }, [isShown])
  return inFront
}
