import type { Page } from 'playwright-core'
import type { ShownRow } from './dashboard-lists.ts'

/** How a person who reads a value in a column finds its row again: by typing it, or by a filter of the list and why no text is needed. */
export type ColumnSearch =
  | {
      /** What the row shows and a person would type; nothing where the row has no value there. */
      readonly texts: (row: ShownRow, page: Page) => readonly string[] | Promise<readonly string[]>
    }
  | { readonly filter: string; readonly because: string }

const EMPTY = ['', '–', 'none']
const linesOf = (heading: string) => (row: ShownRow) =>
  (row.cells[heading] ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => !EMPTY.includes(line))
const shown = (heading: string): ColumnSearch => ({ texts: (row) => linesOf(heading)(row) })
const byFilter = (filter: string, because: string): ColumnSearch => ({ filter, because })
const A_TIME = 'a time is chosen, not typed'

/** `12.5 of 20 USDT` is found by what arrived: `12.5 USDT`. */
const received: ColumnSearch = {
  texts: (row) => {
    const [amount = ''] = linesOf('Received')(row)
    const [, value, symbol] = /^([\d.]+)(?: of [\d.]+)? (\w+)$/.exec(amount) ?? []
    return value === undefined || value === '0' ? [] : [`${value} ${symbol}`]
  },
}

/** The transaction is shown by its two ends; its link and its copy have all of it. */
const transaction: ColumnSearch = {
  texts: async ({ id }, page) => {
    const link = page.locator(`main [data-row-id="${id}"] a[href*="explain?q="]`)
    if ((await link.count()) === 0) return []
    const hash = new URL((await link.getAttribute('href')) ?? '', page.url()).searchParams.get('q') ?? ''
    return [hash, ` ${hash} `, `https://explorer.example/tx/${hash}`]
  },
}

/** `invoice.paid`, then `#7 · shop.example/hook`: the type, the invoice and the endpoint. */
const deliveredEvent: ColumnSearch = {
  texts: (row) => linesOf('Event')(row).flatMap((line) => line.split(' · ')),
}

/** Every visible column of the lists of money and of deliveries, by list and heading. A column that is missing here fails the test. */
export const COLUMN_SEARCHES: Readonly<Record<string, Readonly<Record<string, ColumnSearch>>>> = {
  invoices: {
    Invoice: shown('Invoice'),
    Status: byFilter('tabs', 'a tab for each status'),
    Amount: shown('Amount'),
    Received: received,
    Customer: shown('Customer'),
    Order: shown('Order'),
    Source: byFilter('Source', 'one of four'),
    Created: byFilter('Created', A_TIME),
    'Next step': byFilter('tabs', 'follows from the status'),
  },
  payments: {
    Detected: byFilter('Created', A_TIME),
    State: byFilter('Applied', 'whether it counts'),
    Amount: shown('Amount'),
    Network: byFilter('Network', 'one of ten'),
    Invoice: shown('Invoice'),
    Transaction: transaction,
  },
  deliveries: {
    Select: byFilter('Status', 'shows nothing of the row'),
    Event: deliveredEvent,
    Status: byFilter('Status', 'one of four'),
    Response: byFilter('Status', 'failed ones are chosen together'),
    Attempt: byFilter('Status', 'a count, which changes with every attempt'),
    Created: byFilter('Time', A_TIME),
    'Last / next attempt': byFilter('Time', A_TIME),
  },
}
