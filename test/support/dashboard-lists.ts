import { INVOICE_STATUSES } from '#shared/domain/enumerations.ts'
import type { ListSeed } from './list-seed.ts'

/** A row as a person reads it: the text under each heading, and the moments it names in Unix ms, by heading. */
export interface ShownRow {
  readonly id: string
  readonly cells: Readonly<Record<string, string>>
  readonly times: Readonly<Record<string, number>>
}

/** One choice of a filter, and which rows it promises to show. */
interface FilterChoice {
  /** What is chosen or typed: the value of an option, the name of a tab or button, the text of a search. */
  readonly choose: string | ((seed: ListSeed) => string)
  /** By what the row shows. */
  readonly shows: (row: ShownRow, seed: ListSeed) => boolean
}

/** A way to narrow a list. */
export interface ListFilter {
  readonly control: 'select' | 'search' | 'tab' | 'button' | 'dates'
  /** The control's label; of tabs and buttons, nothing. Of dates, the label of the period, whose first and last day are chosen: `2026-11-01/2026-11-19`. */
  readonly label: string
  /** The choice that shows everything again. */
  readonly any: string
  readonly choices: readonly FilterChoice[]
  /** It says of what another filter is, and leaves nothing out by itself. */
  readonly leavesAll?: true
}

/** What a person makes so that it appears in the list, from the list's own page. */
export interface ListCreation {
  readonly button: string
  /** Fields of the form by label; `{name}` stands for a new name. */
  readonly fields: Readonly<Record<string, string>>
  readonly submit: string
  /** What was made is shown on its own page at once. */
  readonly opensIt?: boolean
  /** Asks for a code of the authenticator when the last one was given minutes ago. */
  readonly isDangerous?: true
}

/**
 * A list of the dashboard. Declared here it is tested: its filters, its tabs, its export, what is created on it, the way back to a row
 * and the place of what a row opens.
 */
export interface DashboardList {
  /** Behind `/{workspace}/{mode}/`. */
  readonly page: string
  /** Rows on the page. */
  readonly rows: string
  readonly filters: readonly ListFilter[]
  /** What a row leads to: its own page, something beside the list, or nothing. */
  readonly opens: 'page' | 'aside' | null
  /** The file of the export, and its column with the row's id. */
  readonly csv?: { readonly what: string; readonly id: string }
  readonly creates?: ListCreation
  /** Has three pages in the seed's live mode. */
  readonly isLong?: boolean
  /** Headings that sort it. */
  readonly sorts?: readonly ListSort[]
}

/** A heading that sorts a list when it is clicked: in ascending order first, then in descending order. */
export interface ListSort {
  readonly heading: string
  /** By what the rows are then in order. */
  readonly keyOf: (row: ShownRow) => string | number
}

const TABLE = 'main [data-row-id]'
const DAY_MS = 86_400_000
const STATUS_LABELS = {
  ...{ new: 'New', pending: 'Awaiting payment', partial: 'Partly paid', confirming: 'Confirming' },
  ...{ paid: 'Paid', overpaid: 'Overpaid', expired: 'Expired', cancelled: 'Cancelled' },
} as const satisfies Readonly<Record<(typeof INVOICE_STATUSES)[number], string>>

const has = (heading: string, word: string | RegExp) => (row: ShownRow) =>
  typeof word === 'string' ? (row.cells[heading] ?? '').split('\n').includes(word) : word.test(row.cells[heading] ?? '')
const select = (label: string, any: string, choices: ListFilter['choices']): ListFilter => ({
  ...{ control: 'select', label, any, choices },
})
/** Days back, by the moment that a row shows under a heading. */
const within = (label: string, heading: string, days: readonly number[]): ListFilter =>
  select(
    label,
    'any',
    days.map((many) => ({
      choose: String(many),
      shows: ({ times }) => (times[heading] ?? 0) >= Date.now() - many * DAY_MS,
    })),
  )
/** Days that are chosen as dates, by the moment that a row shows under a heading, on the clock of this machine and its browser. */
const between = (label: string, heading: string, spans: readonly (readonly [number, number])[]): ListFilter => ({
  ...{ control: 'dates', label, any: '/' },
  choices: spans.map(([first, last]) => ({
    choose: () => `${dayBack(first)}/${dayBack(last)}`,
    shows: ({ times }) => {
      const day = dayOf(times[heading] ?? 0)
      return day >= dayBack(first) && day <= dayBack(last)
    },
  })),
})
const dayOf = (at: number) => {
  const date = new Date(at)
  const two = (part: number) => String(part).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
/** Sorted by the moment under a heading. */
const byTime = (heading: string): ListSort => ({ heading, keyOf: ({ times }) => times[heading] ?? 0 })
const byText = (heading: string): ListSort => ({ heading, keyOf: ({ cells }) => (cells[heading] ?? '').toLowerCase() })
const utcDayBack = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
/** The day that a row is of; its text names the month. */
const dayShown = ({ times }: ShownRow) => new Date(times['Day'] ?? 0).toISOString().slice(0, 10)
const dayBack = (days: number) => dayOf(Date.now() - days * DAY_MS)
const search = (label: string, choices: ListFilter['choices']): ListFilter => ({
  ...{ control: 'search', label, any: '', choices },
})

const AUDIT: ListFilter[] = [
  search('Actor', [{ choose: ({ email }) => email, shows: ({ cells }, { email }) => cells['Actor'] === email }]),
]

/** Without a period the choice of its time leaves nothing out. */
const TIME_OF: ListFilter = {
  ...select(
    'Time of',
    'created',
    ['received', 'confirmed', 'paid'].map((choose) => ({ choose, shows: () => true })),
  ),
  leavesAll: true,
}

/** Every list of a workspace that has filters, pages or rows that open. */
export const DASHBOARD_LISTS: Readonly<Record<string, DashboardList>> = {
  // First: tests of the other lists read exports, and each export leaves two rows here.
  history: { page: 'settings/history', rows: TABLE, opens: null, filters: AUDIT },
  invoices: {
    ...{ page: 'invoices', rows: TABLE, opens: 'page', isLong: true, csv: { what: 'invoices', id: 'invoice_id' } },
    sorts: [byTime('Created')],
    filters: [
      {
        ...{ control: 'tab', label: '', any: 'All' },
        choices: INVOICE_STATUSES.map((status) => ({
          choose: STATUS_LABELS[status],
          shows: has('Status', STATUS_LABELS[status]),
        })),
      },
      select('Coin', 'any', [
        { choose: 'usdt_ethereum', shows: has('Received', /USDT\n+Ethereum/) },
        { choose: 'eth_ethereum', shows: has('Received', /ETH\n+Ethereum/) },
        { choose: 'btc_bitcoin', shows: has('Received', /BTC/) },
      ]),
      select('Source', 'any', [
        { choose: 'api', shows: has('Source', 'API') },
        { choose: 'link', shows: has('Source', 'Payment link') },
        { choose: 'manual', shows: has('Source', 'Created here') },
        { choose: 'billing', shows: has('Source', 'Billing') },
      ]),
      select('Flag', 'any', [
        { choose: 'late', shows: has('Status', 'Late') },
        { choose: 'short', shows: has('Status', 'Underpayment accepted') },
      ]),
      TIME_OF,
      within('Created', 'Created', [1, 7, 30, 90]),
      between('Created', 'Created', [
        [12, 2],
        [210, 30],
      ]),
      search('Number, order, customer, email, amount, address or transaction', [
        { choose: ({ orderId }) => orderId, shows: (row, { orderId }) => row.cells['Order'] === orderId },
        { choose: ({ invoices }) => invoices['paid'] ?? '', shows: (row, { invoices }) => row.id === invoices['paid'] },
        {
          choose: ({ customerEmail }) => customerEmail,
          shows: (row, { invoices }) => row.id === invoices['pending'],
        },
        { choose: '901', shows: has('Invoice', '#901') },
        { choose: 'nothing-like-it', shows: () => false },
      ]),
    ],
  },
  payments: {
    ...{ page: 'payments', rows: TABLE, opens: null, isLong: true, csv: { what: 'payments', id: 'payment_id' } },
    sorts: [byTime('Detected')],
    filters: [
      TIME_OF,
      within('Created', 'Detected', [1, 7, 30, 90]),
      between('Created', 'Detected', [
        [12, 2],
        [41, 39],
      ]),
      select('Network', 'any', [
        { choose: 'ethereum', shows: has('Network', 'Ethereum') },
        { choose: 'bitcoin', shows: has('Network', 'Bitcoin') },
        { choose: 'solana', shows: has('Network', 'Solana') },
        { choose: 'tron', shows: has('Network', /tron/i) },
      ]),
      select('Applied', 'any', [
        { choose: 'yes', shows: (row) => !has('State', 'Not applied')(row) },
        { choose: 'no', shows: has('State', 'Not applied') },
      ]),
      search('Transaction, amount, invoice, order, customer, email or address', [
        {
          choose: ({ paidNumber }) => `#${paidNumber}`,
          shows: ({ cells }, { paidNumber }) => cells['Invoice'] === `#${paidNumber}`,
        },
        { choose: 'nothing-like-it', shows: () => false },
      ]),
    ],
  },
  settlements: {
    ...{ page: 'settlements', rows: TABLE, opens: null },
    filters: [
      select('Confirmed', 'any', [
        { choose: '1', shows: (row) => dayShown(row) >= utcDayBack(1) },
        { choose: '7', shows: (row) => dayShown(row) >= utcDayBack(7) },
        { choose: '30', shows: (row) => dayShown(row) >= utcDayBack(30) },
      ]),
      {
        ...{ control: 'dates', label: 'Confirmed', any: '/' },
        choices: [
          {
            choose: () => `${utcDayBack(3)}/${utcDayBack(1)}`,
            shows: (row) => {
              const day = dayShown(row)
              return day >= utcDayBack(3) && day <= utcDayBack(1)
            },
          },
        ],
      },
    ],
  },
  links: {
    ...{ page: 'links', rows: TABLE, opens: 'page', isLong: true, filters: [], sorts: [byTime('Created')] },
    creates: { button: 'New link', fields: { Title: '{name}', Amount: '12.50' }, submit: 'Create link', opensIt: true },
  },
  products: {
    ...{ page: 'products', rows: TABLE, opens: null, isLong: true, filters: [], sorts: [byTime('Added')] },
    creates: { button: 'New product', fields: { Name: '{name}', Price: '12.50' }, submit: 'Add product' },
  },
  endpoints: {
    ...{ page: 'webhooks/endpoints', rows: TABLE, opens: 'aside', filters: [] },
    sorts: [byText('Endpoint'), byText('Health')],
  },
  deliveries: {
    ...{ page: 'webhooks/deliveries', rows: TABLE, opens: 'aside', isLong: true },
    sorts: [byTime('Created')],
    filters: [
      select('Status', 'all', [
        { choose: 'failed', shows: has('Status', 'Failed') },
        { choose: 'pending', shows: has('Status', /^(Queued|Retrying)/) },
        { choose: 'held', shows: has('Status', 'Paused') },
        { choose: 'succeeded', shows: has('Status', 'Delivered') },
      ]),
      select('Endpoint', 'all', [
        { choose: ({ refusingEndpointId }) => refusingEndpointId, shows: has('Event', /^invoice\.created/) },
      ]),
      select('Event type', 'all', [
        { choose: 'invoice.paid', shows: has('Event', 'invoice.paid') },
        { choose: 'invoice.created', shows: has('Event', 'invoice.created') },
        { choose: 'invoice.cancelled', shows: has('Event', 'invoice.cancelled') },
        { choose: 'payment.detected', shows: has('Event', 'payment.detected') },
      ]),
      search('Event, endpoint, delivery, or what finds an invoice', [
        {
          choose: ({ invoices }) => invoices['paid'] ?? '',
          shows: ({ cells }, { paidNumber }) => cells['Event']?.includes(`#${paidNumber} ·`) === true,
        },
        { choose: 'nothing-like-it', shows: () => false },
      ]),
    ],
  },
  events: {
    ...{ page: 'webhooks/events', rows: TABLE, opens: 'aside', isLong: true },
    sorts: [byTime('Time')],
    filters: [
      search('Event, or what finds an invoice', [
        { choose: ({ eventId }) => eventId, shows: (row, { eventId }) => row.id === eventId },
        {
          choose: ({ paidNumber }) => `#${paidNumber}`,
          shows: ({ cells }, { paidNumber }) => cells['Event']?.endsWith(`#${paidNumber}`) === true,
        },
        { choose: 'nothing-like-it', shows: () => false },
      ]),
    ],
  },
  exceptions: {
    ...{ page: 'exceptions', rows: TABLE, opens: 'aside', isLong: true },
    filters: [
      {
        ...{ control: 'button', label: '', any: 'All kinds' },
        choices: [
          { choose: 'Money', shows: ({ cells }) => !/endpoint/i.test(cells['row'] ?? '') },
          { choose: 'System', shows: ({ cells }) => /endpoint/i.test(cells['row'] ?? '') },
        ],
      },
    ],
  },
  keys: {
    ...{ page: 'keys', rows: TABLE, opens: null, filters: [], sorts: [byText('Name'), byTime('Created')] },
    creates: { button: 'New key', fields: { Name: '{name}' }, submit: 'Create key', isDangerous: true },
  },
}
