import type { Page } from 'playwright-core'
import { DASHBOARD_LISTS } from './dashboard-lists.ts'
import type { ListSeed } from './list-seed.ts'

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

/** A page or drawer of one record, or a part of a page: where it is, and what a person does there to see it. */
export interface RecordPage {
  /** As in `DASHBOARD_PAGES`. */
  readonly path: string | ((seed: ListSeed) => string)
  readonly open?: (page: Page) => Promise<void>
}

/** Opens the first row of a list: a page, or a drawer beside the list. */
const firstRow = (rows: string, opens: 'page' | 'aside') => async (page: Page) => {
  const row = page.locator(rows).first()
  await row.waitFor()
  await row.and(page.locator('[data-row-link]')).or(row.locator('[data-row-link]')).first().click()
  if (opens === 'aside') await page.locator('main aside').getByRole('heading').first().waitFor()
  else await page.waitForURL((url) => /\/[^/]+\/[0-9a-f-]{36}$/.test(url.pathname))
}

/** Invoices of the seed that have a page each. */
const INVOICES = ['new', 'pending', 'partial', 'paid', 'overpaid', 'expired', 'cancelled', 'paid in ether']
const SECTIONS = ['payments', 'confirmations', 'business', 'brand', 'history']

/**
 * What stands behind the pages: an invoice of each state, a customer, what the first row of each list opens, and the parts of the settings.
 * A list that is declared in `DASHBOARD_LISTS` is covered.
 */
export const RECORD_PAGES: Readonly<Record<string, RecordPage>> = {
  ...Object.fromEntries(
    INVOICES.map((name) => [`invoice ${name}`, { path: ({ invoices }: ListSeed) => `invoices/${invoices[name]}` }]),
  ),
  customer: { path: ({ invoices }) => `customers/${invoices['pending']}` },
  ...Object.fromEntries(
    Object.entries(DASHBOARD_LISTS).flatMap(([name, { page, rows, opens }]) =>
      opens === null ? [] : [[`${name}: first row`, { path: page, open: firstRow(rows, opens) }]],
    ),
  ),
  'chains: first row': { path: '/system/chains', open: firstRow('main [data-row-id]', 'aside') },
  'overview: figures': {
    path: 'overview',
    open: async (page) => await page.getByText(/^Price, refunds/).click(),
  },
  ...Object.fromEntries(SECTIONS.map((section) => [`settings: ${section}`, { path: `settings/${section}` }])),
  'no such page': { path: 'nothing-here' },
  'no such invoice': { path: 'invoices/01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e40' },
  'trace of an invoice': { path: ({ invoices }) => `explain?q=${invoices['paid']}` },
}

/** The address of a page. */
export function dashboardPath(page: string, workspaceId: string, mode: 'live' | 'test'): string {
  return page.startsWith('/') ? page : `/${workspaceId}/${mode}/${page}`
}
