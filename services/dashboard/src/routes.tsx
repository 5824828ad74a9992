import { Navigate } from 'react-router'
import type { PageRoute } from './frame/lazy-routes.tsx'
import { NotFound } from './frame/not-found.tsx'
import { SessionGuard } from './session/session-guard.tsx'

/** The frame around the pages of a signed-in person: one file for all of them, that the login does without. */
const frame = async () => await import('./frame/place-route.tsx')

/** Pages without a login. */
const openPages: PageRoute[] = [
  { path: '/login', lazy: async () => ({ Component: (await import('./pages/login/login-page.tsx')).LoginPage }) },
  { path: '/reset', lazy: async () => ({ Component: (await import('./pages/reset/reset-page.tsx')).ResetPage }) },
  {
    path: '/invitation',
    lazy: async () => ({ Component: (await import('./pages/invitation/invitation-page.tsx')).InvitationPage }),
  },
]

/** Pages of a workspace, below `/{workspace}/{live|test}/`. A page is one line and one file. */
const workspacePages: PageRoute[] = [
  { index: true, element: <Navigate to="overview" replace /> },
  {
    path: 'overview',
    lazy: async () => ({ Component: (await import('./pages/overview/overview-page.tsx')).OverviewPage }),
  },
  {
    path: 'exceptions/:id?',
    lazy: async () => ({ Component: (await import('./pages/exceptions/exceptions-page.tsx')).ExceptionsPage }),
  },
  {
    path: 'invoices',
    lazy: async () => ({ Component: (await import('./pages/invoices/invoices-page.tsx')).InvoicesPage }),
  },
  {
    path: 'invoices/new',
    lazy: async () => ({ Component: (await import('./pages/new-invoice/new-invoice-page.tsx')).NewInvoicePage }),
  },
  {
    path: 'invoices/:id',
    lazy: async () => ({ Component: (await import('./pages/invoice/invoice-page.tsx')).InvoicePage }),
  },
  {
    path: 'customers/:id',
    lazy: async () => ({ Component: (await import('./pages/customer/customer-page.tsx')).CustomerPage }),
  },
  {
    path: 'payments',
    lazy: async () => ({ Component: (await import('./pages/payments/payments-page.tsx')).PaymentsPage }),
  },
  {
    path: 'settlements',
    lazy: async () => ({ Component: (await import('./pages/settlements/settlements-page.tsx')).SettlementsPage }),
  },
  { path: 'links', lazy: async () => ({ Component: (await import('./pages/links/links-page.tsx')).LinksPage }) },
  { path: 'links/:id', lazy: async () => ({ Component: (await import('./pages/link/link-page.tsx')).LinkPage }) },
  {
    path: 'products',
    lazy: async () => ({ Component: (await import('./pages/products/products-page.tsx')).ProductsPage }),
  },
  {
    path: 'webhooks/endpoints/:id?',
    lazy: async () => ({ Component: (await import('./pages/endpoints/endpoints-page.tsx')).EndpointsPage }),
  },
  {
    path: 'webhooks/deliveries/:id?',
    lazy: async () => ({ Component: (await import('./pages/deliveries/deliveries-page.tsx')).DeliveriesPage }),
  },
  {
    path: 'webhooks/events',
    lazy: async () => ({ Component: (await import('./pages/events/events-page.tsx')).EventsPage }),
  },
  { path: 'keys', lazy: async () => ({ Component: (await import('./pages/keys/keys-page.tsx')).KeysPage }) },
  {
    path: 'explain',
    lazy: async () => ({ Component: (await import('./pages/explain/explain-page.tsx')).ExplainPage }),
  },
  {
    path: 'wallets',
    lazy: async () => ({ Component: (await import('./pages/wallets/wallets-page.tsx')).WalletsPage }),
  },
  {
    path: 'wallets/add',
    lazy: async () => ({ Component: (await import('./pages/add-wallet/add-wallet-page.tsx')).AddWalletPage }),
  },
  {
    path: 'wallets/:id/funds',
    lazy: async () => ({ Component: (await import('./pages/funds/funds-page.tsx')).FundsPage }),
  },
  {
    path: 'go-live',
    lazy: async () => ({ Component: (await import('./pages/go-live/go-live-page.tsx')).GoLivePage }),
  },
  { path: 'team', lazy: async () => ({ Component: (await import('./pages/team/team-page.tsx')).TeamPage }) },
  {
    path: 'settings/:section?',
    lazy: async () => ({ Component: (await import('./pages/settings/settings-page.tsx')).SettingsPage }),
  },
  { path: 'webhooks', element: <Navigate to="deliveries" replace /> },
  { path: '*', element: <NotFound /> },
]

/** Pages of the signed-in person. */
const ownPages: PageRoute[] = [
  {
    path: 'account',
    lazy: async () => ({ Component: (await import('./pages/account/account-page.tsx')).AccountPage }),
  },
]

/** Pages of instance admins. */
const instancePages: PageRoute[] = [
  { path: 'system', element: <Navigate to="/system/chains" replace /> },
  {
    path: 'system/chains',
    lazy: async () => ({ Component: (await import('./pages/chains/chains-page.tsx')).ChainsPage }),
  },
  {
    path: 'system/queues',
    lazy: async () => ({ Component: (await import('./pages/queues/queues-page.tsx')).QueuesPage }),
  },
  { path: 'system/rates', lazy: async () => ({ Component: (await import('./pages/rates/rates-page.tsx')).RatesPage }) },
  {
    path: 'system/processes',
    lazy: async () => ({ Component: (await import('./pages/processes/processes-page.tsx')).ProcessesPage }),
  },
  { path: 'system/audit', lazy: async () => ({ Component: (await import('./pages/audit/audit-page.tsx')).AuditPage }) },
]

/** Every route of the dashboard. */
export const routes: PageRoute[] = [
  ...openPages,
  {
    element: <SessionGuard />,
    children: [
      { index: true, lazy: async () => ({ Component: (await frame()).FrontRoute }) },
      { lazy: async () => ({ Component: (await frame()).OwnRoute }), children: ownPages },
      { lazy: async () => ({ Component: (await frame()).InstanceRoute }), children: instancePages },
      {
        path: ':workspace/:mode',
        lazy: async () => ({ Component: (await frame()).PlaceRoute }),
        children: workspacePages,
      },
      {
        lazy: async () => ({ Component: (await frame()).OwnRoute }),
        children: [{ path: '*', element: <NotFound /> }],
      },
    ],
  },
]
