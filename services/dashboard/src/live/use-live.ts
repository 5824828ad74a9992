import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { failureOf } from '#services/dashboard/src/api/failure.ts'
import { SESSION_KEY } from '#services/dashboard/src/api/query-client.ts'
import { api } from '#services/dashboard/src/api/trpc.ts'
import type { Mode } from '#shared/domain/enumerations.ts'

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
    const asked = everything ? null : routers
    const figures = asked === null || asked.has(FIGURES)
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
        return asked === null || asked.has(router)
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

/** A kind of change from the server. */
type LiveKind = 'invoice' | 'payment' | 'exception' | 'delivery' | 'endpoint' | 'all'

const ASKS: Readonly<Record<Exclude<LiveKind, 'all'>, readonly string[]>> = {
  invoice: ['invoices', 'payments', 'paymentLinks', 'exceptions', 'overview'],
  payment: ['payments', 'invoices', 'diagnostics'],
  exception: ['exceptions', 'invoices', 'overview'],
  delivery: ['deliveries', 'endpoints', 'invoices', 'overview'],
  endpoint: ['endpoints', 'overview'],
}

/** Routers whose responses may have changed; null = all of them. */
export function routersOf(kind: LiveKind): readonly string[] | null {
  return kind === 'all' ? null : ASKS[kind]
}

/** The router that a query uses; empty for queries that do not call the server. */
export function routerOf(queryKey: readonly unknown[]): string {
  const [path] = queryKey
  const [router] = Array.isArray(path) ? path : []
  return typeof router === 'string' ? router : ''
}

/** Pause after the server ended the stream. */
const AGAIN_MS = 5_000

/**
 * Opens a stream of the server, and reopens it some seconds after the server ended it. Pages detect an ended session.
 * Returns a function that ends it.
 */
function keepSubscribed(
  client: QueryClient,
  open: (onError: (error: Parameters<typeof failureOf>[0]) => void) => { unsubscribe: () => void },
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let subscription: { unsubscribe: () => void } | undefined
  const begin = () => {
    subscription = open((error) => {
      if (failureOf(error).code === 'UNAUTHORIZED') void client.invalidateQueries({ queryKey: SESSION_KEY })
      timer = setTimeout(begin, AGAIN_MS)
    })
  }
  begin()
  return () => {
    clearTimeout(timer)
    subscription?.unsubscribe()
  }
}
