import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Mode } from '#shared/domain/enumerations.ts'
import { api } from '../api/trpc.ts'
import { keepSubscribed } from './keep-subscribed.ts'
import { routerOf, routersOf } from './live-query.ts'

/** Signals of a busy moment are handled together. */
const GATHER_MS = 400
/** Figures are expensive: they are fetched at most this often. */
const FIGURES_EVERY_MS = 5_000
const FIGURES = 'overview'

/** Follows the changes of a workspace and refetches the affected data of shown pages. Interrupted connections are reopened automatically. */
export function useLive(workspaceId: string | undefined, mode: Mode | undefined): void {
  const client = useQueryClient()
  useEffect(() => {
    if (workspaceId === undefined || mode === undefined) return
    const refresher = createRefresher(client)
    const end = keepSubscribed(client, (onError) =>
      api.live.changes.subscribe(
        { workspaceId, mode },
        { onData: ({ data }) => refresher.note(routersOf(data.kind)), onError },
      ),
    )
    return () => {
      end()
      refresher.stop()
    }
  }, [client, workspaceId, mode])
}

function createRefresher(client: QueryClient) {
  let everything = false
  let routers = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let figuresAt = 0
  const run = () => {
    timer = undefined
    const changed = everything ? null : routers
    const figures = changed === null || changed.has(FIGURES)
    const figuresWait = figures ? figuresAt + FIGURES_EVERY_MS - Date.now() : 0
    everything = false
    routers = new Set()
    if (figures && figuresWait > 0) {
      routers.add(FIGURES)
      timer = setTimeout(run, figuresWait)
    } else if (figures) figuresAt = Date.now()
    void client.invalidateQueries({
      predicate: ({ queryKey }) => {
        const router = routerOf(queryKey)
        if (router === '' || router === 'auth' || (router === FIGURES && figuresWait > 0)) return false
        return changed === null || changed.has(router)
      },
    })
  }
  return {
    note: (names: readonly string[] | null) => {
      if (names === null) everything = true
      else for (const name of names) routers.add(name)
      timer ??= setTimeout(run, GATHER_MS)
    },
    stop: () => clearTimeout(timer),
  }
}
