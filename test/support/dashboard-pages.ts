/** Every page of the dashboard: path behind `/{workspace}/{mode}/`, or from the root where it begins with a slash. */
export const DASHBOARD_PAGES = {
  overview: 'overview',
  exceptions: 'exceptions',
  invoices: 'invoices',
  'new-invoice': 'invoices/new',
  payments: 'payments',
  settlements: 'settlements',
  links: 'links',
  products: 'products',
  endpoints: 'webhooks/endpoints',
  deliveries: 'webhooks/deliveries',
  events: 'webhooks/events',
  keys: 'keys',
  explain: 'explain',
  wallets: 'wallets',
  'add-wallet': 'wallets/add',
  'go-live': 'go-live',
  team: 'team',
  settings: 'settings/pricing',
  account: '/account',
  chains: '/system/chains',
  queues: '/system/queues',
  rates: '/system/rates',
  processes: '/system/processes',
  audit: '/system/audit',
} as const satisfies Readonly<Record<string, string>>

/** The address of a page. */
export function dashboardPath(page: string, workspaceId: string, mode: 'live' | 'test'): string {
  return page.startsWith('/') ? page : `/${workspaceId}/${mode}/${page}`
}
