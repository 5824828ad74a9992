import { createTRPCClient, httpBatchLink, httpLink, httpSubscriptionLink, splitLink } from '@trpc/client'
import { createTRPCOptionsProxy } from '@trpc/tanstack-react-query'
import type { AppRouter } from '#services/admin/app-router.ts'
import { firstAnswers } from './first-answers.ts'
import { idleSeconds } from './idle.ts'
import { queryClient } from './query-client.ts'

const url = '/trpc'
const headers = () => ({ 'x-idle-seconds': String(idleSeconds()) })

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
        true: httpLink({ url, headers }),
        false: httpBatchLink({ url, headers, maxItems: 10, methodOverride: 'POST' }),
      }),
    }),
  ],
})

/** Options for TanStack Query: `useQuery(trpc.invoices.get.queryOptions(…))`, `trpc.invoices.pathFilter()` to refresh. */
export const trpc = createTRPCOptionsProxy<AppRouter>({ client: api, queryClient })
