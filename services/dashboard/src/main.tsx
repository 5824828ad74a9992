import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import '@mantine/spotlight/styles.css'
import '#shared/styles/tokens.css'
import '#shared/styles/access.css'
import './theme/frame.css'
import './theme/overview.css'
import './theme/parts.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { createBrowserRouter, RouterProvider } from 'react-router'
import { queryClient } from './api/query-client.ts'
import { allowTextOnly } from './markup-policy.ts'
import { routes } from './routes.tsx'
import { cssVariablesResolver, theme } from './theme/theme.ts'

allowTextOnly()
const root = document.getElementById('root')
if (root !== null) {
  createRoot(root).render(
    <MantineProvider theme={theme} cssVariablesResolver={cssVariablesResolver} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" />
        <RouterProvider router={createBrowserRouter(routes)} />
      </QueryClientProvider>
    </MantineProvider>,
  )
}
