import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router'
import { allowTextOnly } from './allow-text-only.ts'
import { queryClient } from './api/query-client.ts'
import { Routes, requestCode, routesOf } from './frame/lazy-routes.tsx'
import { watchMissingCode } from './frame/missing-code.tsx'
import { ToastCorner } from './parts/toast/toast.tsx'
import { routes } from './routes.tsx'
import { sessionQuery } from './session/session-query.ts'
import { cssVariablesResolver, theme } from './theme/theme.ts'

/** Pages without a login. */
const OPEN_PAGES = /^\/(login|invitation|reset)\b/

allowTextOnly()
watchMissingCode()
if (!OPEN_PAGES.test(window.location.pathname)) void queryClient.prefetchQuery(sessionQuery)
void start()

/** No `await` at the top level: the pages import parts of this file, which would wait for them. */
async function start(): Promise<void> {
  await Promise.all([requestCode(routes, window.location.pathname), documentIsRead()])
  const root = document.getElementById('root')
  if (root === null) return
  const known = routesOf(routes)
  createRoot(root).render(
    <MantineProvider theme={theme} cssVariablesResolver={cssVariablesResolver} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <ToastCorner />
        <BrowserRouter>
          <Routes routes={known} />
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>,
  )
}

/** The first script waits for nothing, so that no style sheet delays the data: it may run before the document has been read. */
async function documentIsRead(): Promise<void> {
  if (document.readyState !== 'loading') return
  await new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve, { once: true }))
}
