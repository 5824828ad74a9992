import {
  createTRPCClient,
  httpBatchLink,
  httpLink,
  httpSubscriptionLink,
  splitLink,
  TRPCClientError,
  type TRPCLink,
} from '@trpc/client'
import { observable } from '@trpc/server/observable'
import { createTRPCOptionsProxy } from '@trpc/tanstack-react-query'
import type { AppRouter } from '#services/admin/app-router.ts'
import { takeFirst } from '#services/dashboard/src/first/first-reads.ts'
import { requestServer } from '#services/dashboard/src/first/request-server.ts'
import type { Session } from '../session/session.ts'
import { queryClient, SESSION_KEY } from './query-client.ts'

const url = '/trpc'
const headers = () => ({ 'x-idle-seconds': String(idleSeconds()) })
/** An action is that of the person to whom the page is shown, or nobody's. */
const actionHeaders = () => ({
  ...headers(),
  'x-user-id': queryClient.getQueryData<Session>(SESSION_KEY)?.userId ?? '',
})

/** Answers a question that the first script of the document asked already; passes every other one. */
const firstAnswers: TRPCLink<AppRouter> =
  () =>
  ({ op, next }) => {
    const first = op.type === 'query' ? takeFirst(op.path, op.input) : null
    if (first === null) return next(op)
    return observable((observer) => {
      void first.then((answer) => {
        if ('error' in answer) return observer.error(TRPCClientError.from(answer.error))
        observer.next({ result: { type: 'data', data: answer.data } })
        observer.complete()
      })
    })
  }

/**
 * Calls the server directly: `api.invoices.get.query(…)`, `api.invoices.cancel.mutate(…)`. Concurrent reads are batched; an
 * action is sent alone, so that its response can set the session cookie and does not wait for a slow read. All of them are POSTs, so that no
 * input appears in a URL. Live views are server-sent events.
 */
export const api = createTRPCClient<AppRouter>({
  links: [
    firstAnswers,
    splitLink({
      condition: ({ type }) => type === 'subscription',
      true: httpSubscriptionLink({ url }),
      false: splitLink({
        condition: ({ type }) => type === 'mutation',
        true: httpLink({ url, headers: actionHeaders, fetch: requestServer }),
        false: httpBatchLink({ url, headers, fetch: requestServer, maxItems: 10, methodOverride: 'POST' }),
      }),
    }),
  ],
})

/** Options for TanStack Query: `useQuery(trpc.invoices.get.queryOptions(…))`, `trpc.invoices.pathFilter()` to refresh. */
export const trpc = createTRPCOptionsProxy<AppRouter>({ client: api, queryClient })

let lastSeenAt = Date.now()

for (const sign of ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const) {
  window.addEventListener(
    sign,
    () => {
      lastSeenAt = Date.now()
    },
    { passive: true },
  )
}

/** Seconds since the person last touched the page: automatic requests must not keep a session alive. */
function idleSeconds(): number {
  return Math.floor((Date.now() - lastSeenAt) / 1_000)
}
