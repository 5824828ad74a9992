import type { ComponentType } from 'react'
import { Navigate } from 'react-router'
import type { PageRoute } from './frame/lazy-routes.tsx'
import { NotFound } from './frame/not-found.tsx'
import { SessionGuard } from './session/session-guard.tsx'

/** A page, whose code is requested when it is shown. */
const page = (path: string, lazy: () => Promise<ComponentType>): PageRoute => ({ path, lazy })

/** The frame around the pages of a signed-in person: one file for all of them, that the login does without. */
const frame = async () => await import('./frame/place-route.tsx')

/** Pages without a login. */
const openPages: PageRoute[] = [
  page('/login', async () => (await import('./pages/login/login-page.tsx')).LoginPage),
  page('/reset', async () => (await import('./pages/reset/reset-page.tsx')).ResetPage),
  page('/invitation', async () => (await import('./pages/invitation/invitation-page.tsx')).InvitationPage),
]

/** Pages of a workspace, below `/{workspace}/{live|test}/`. A page is one line and one file. */
const workspacePages: PageRoute[] = [
  { index: true, element: <Navigate to="overview" replace /> },
  page('overview', async () => (await import('./pages/overview/overview-page.tsx')).OverviewPage),
  page('exceptions/:id?', async () => (await import('./pages/exceptions/exceptions-page.tsx')).ExceptionsPage),
  page('invoices', async () => (await import('./pages/invoices/invoices-page.tsx')).InvoicesPage),
  page('invoices/new', async () => (await import('./pages/new-invoice/new-invoice-page.tsx')).NewInvoicePage),
  page('invoices/:id', async () => (await import('./pages/invoice/invoice-page.tsx')).InvoicePage),
  page('customers/:id', async () => (await import('./pages/customer/customer-page.tsx')).CustomerPage),
  page('payments', async () => (await import('./pages/payments/payments-page.tsx')).PaymentsPage),
  page('settlements', async () => (await import('./pages/settlements/settlements-page.tsx')).SettlementsPage),
  page('links', async () => (await import('./pages/links/links-page.tsx')).LinksPage),
  page('links/:id', async () => (await import('./pages/link/link-page.tsx')).LinkPage),
  page('products', async () => (await import('./pages/products/products-page.tsx')).ProductsPage),
  page('webhooks/endpoints/:id?', async () => (await import('./pages/endpoints/endpoints-page.tsx')).EndpointsPage),
  page('webhooks/deliveries/:id?', async () => (await import('./pages/deliveries/deliveries-page.tsx')).DeliveriesPage),
  page('webhooks/events', async () => (await import('./pages/events/events-page.tsx')).EventsPage),
  page('keys', async () => (await import('./pages/keys/keys-page.tsx')).KeysPage),
  page('explain', async () => (await import('./pages/explain/explain-page.tsx')).ExplainPage),
  page('wallets', async () => (await import('./pages/wallets/wallets-page.tsx')).WalletsPage),
  page('wallets/add', async () => (await import('./pages/add-wallet/add-wallet-page.tsx')).AddWalletPage),
  page('wallets/:id/funds', async () => (await import('./pages/funds/funds-page.tsx')).FundsPage),
  page('go-live', async () => (await import('./pages/go-live/go-live-page.tsx')).GoLivePage),
  page('team', async () => (await import('./pages/team/team-page.tsx')).TeamPage),
  page('settings/:section?', async () => (await import('./pages/settings/settings-page.tsx')).SettingsPage),
  { path: 'webhooks', element: <Navigate to="deliveries" replace /> },
  { path: '*', element: <NotFound /> },
]

/** Pages of the signed-in person. */
const ownPages: PageRoute[] = [
  page('account', async () => (await import('./pages/account/account-page.tsx')).AccountPage),
]

/** Pages of instance admins. */
const instancePages: PageRoute[] = [
  { path: 'system', element: <Navigate to="/system/chains" replace /> },
  page('system/chains', async () => (await import('./pages/chains/chains-page.tsx')).ChainsPage),
  page('system/queues', async () => (await import('./pages/queues/queues-page.tsx')).QueuesPage),
  page('system/rates', async () => (await import('./pages/rates/rates-page.tsx')).RatesPage),
  page('system/processes', async () => (await import('./pages/processes/processes-page.tsx')).ProcessesPage),
  page('system/audit', async () => (await import('./pages/audit/audit-page.tsx')).AuditPage),
]

/** Every route of the dashboard. */
export const routes: PageRoute[] = [
  ...openPages,
  {
    element: <SessionGuard />,
    children: [
      { index: true, lazy: async () => (await frame()).FrontRoute },
      { lazy: async () => (await frame()).OwnRoute, children: ownPages },
      { lazy: async () => (await frame()).InstanceRoute, children: instancePages },
      {
        path: ':workspace/:mode',
        lazy: async () => (await frame()).PlaceRoute,
        children: workspacePages,
      },
      {
        lazy: async () => (await frame()).OwnRoute,
        children: [{ path: '*', element: <NotFound /> }],
      },
    ],
  },
]
