import type { Page } from 'playwright-core'
import { expect, test, vi } from 'vitest'
import { NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { looksOf, settled } from '#test/support/accessibility.ts'
import { ANYBODY, useBrowser } from '#test/support/browser.ts'
import { DASHBOARD_PAGES, dashboardPath, RECORD_PAGES, type RecordPage } from '#test/support/dashboard-pages.ts'
import { deepTest, namedOf } from '#test/support/depth.ts'
import {
  amountsIn,
  overlongIn,
  type PutIn,
  plainText,
  ungroupedIn,
  withExtremeValues,
} from '#test/support/extreme-values.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

const browser = useBrowser()
const opened = useListSeed(browser)
/** Axe takes a second per look, and half a minute on a busy machine. */
const SLOW_MACHINE_MS = 300_000
/** How long a page has to show what it read. */
const FOLLOWS = { timeout: 10_000, interval: 200 }

type Row = Readonly<Record<string, unknown>> & { readonly id: string }
/** What the API says of a row and its page shows: amounts with their unit, and names. */
interface RowTexts {
  readonly amounts: readonly string[]
  readonly names: readonly string[]
}
const texts = (...values: readonly unknown[]) => values.filter((value): value is string => typeof value === 'string')
const money = (value: unknown) => {
  const { value: amount, currency } = value as { readonly value: string; readonly currency: string }
  return `${amount} ${currency}`
}

/** Lists whose rows are compared with the API field by field, by the procedure that fills them. */
const COMPARED: Readonly<Record<string, (row: Row) => RowTexts>> = {
  'invoices.list': ({ amount, coins, customer, orderId }) => {
    const { received, due, symbol } = (coins ?? {}) as Readonly<Record<string, string>>
    const { name, email } = customer as Readonly<Record<string, string | null>>
    const arrived = received === due ? [due] : [received, due]
    return {
      amounts: [money(amount), ...(coins === null ? [] : arrived.map((one) => `${one} ${symbol}`))],
      names: texts(orderId, name ?? email),
    }
  },
  'payments.list': ({ amount, symbol, networkName }) => ({
    amounts: [`${amount} ${symbol}`],
    names: texts(networkName),
  }),
  'paymentLinks.list': ({ title }) => ({ amounts: [], names: texts(title) }),
  'products.list': ({ name, price, currency }) => ({ amounts: [`${price} ${currency}`], names: texts(name) }),
  'apiKeys.list': ({ name }) => ({ amounts: [], names: texts(name) }),
}

/**
 * Records that have a page or a drawer, by the procedure that reads them: whatever extreme is put into one is shown, but for these fields,
 * which the page shows once it is asked to.
 */
const RECORDS: Readonly<Record<string, readonly string[]>> = {
  // What can be sent back is offered in the dialog of a refund.
  'invoices.get': ['result.data.refundable.amount'],
  'customers.get': [],
  'paymentLinks.get': [],
  'exceptions.get': [],
  'deliveries.get': [],
  'endpoints.list': [],
  'overview.volume': [],
}

/** Of many attempts the response to the last one is shown. */
const LAST = 'result.data.past.responseBody'

/** Opens a page whose server says extreme things; `rows` and `records` have what it said of what is compared. */
async function openExtreme({ path, open }: RecordPage) {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState, width: 1280, height: 800 })
  const rows = new Map<string, RowTexts>()
  const records = new Map<string, readonly PutIn[]>()
  await page.route(/\/trpc\/(?!live\.)/, async (route) => {
    const response = await route.fetch()
    const procedures = new URL(route.request().url()).pathname.split('/trpc/')[1]?.split(',') ?? []
    const text = await response.text()
    const parsed: unknown = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : null
    if (parsed === null) return await route.fulfill({ response, body: text })
    const answers = Array.isArray(parsed) ? parsed : [parsed]
    const changed = answers.map((answer, place) => {
      const procedure = procedures[place] ?? ''
      const put: PutIn[] = []
      const result = withExtremeValues(procedure, answer, (one) => put.push(one))
      if (procedure in RECORDS) records.set(procedure, put)
      const items = (result as { result?: { data?: { items?: readonly Row[] } } }).result?.data?.items ?? []
      for (const row of items) {
        const said = COMPARED[procedure]?.(row)
        if (said !== undefined) rows.set(row.id, said)
      }
      return result
    })
    await route.fulfill({ response, body: JSON.stringify(Array.isArray(parsed) ? changed : changed[0]) })
  })
  const place = typeof path === 'string' ? path : path(seed)
  await page.goto(`${dev.adminUrl}${dashboardPath(place, seed.workspaceId, 'test')}`)
  await settled(page)
  await open?.(page)
  await allArrived(page)
  // The list is compared on its own visit; the overview's figures once they are opened.
  if (open !== undefined) rows.clear()
  else records.delete('overview.volume')
  return { page, rows, records }
}

/** Cards and drawers that load when the page is there have their data too: skeletons are looked at nowhere. */
async function allArrived(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
  await settled(page)
}

/** Ids of networks that are no word of a sentence; their names begin with a capital. */
const IDS = NETWORK_IDS.filter((id) => id !== 'base')
const rawIds = (text: string) => IDS.filter((id) => new RegExp(`(^|[\\s(·,])${id}($|[\\s),.·])`, 'm').test(text))
const shownText = async (page: Page, part = 'main') =>
  await page.evaluate<string>(`document.querySelector(${JSON.stringify(part)}).innerText`)

function expectSaid(id: string, text: string, { amounts, names }: RowTexts): void {
  const shown = amountsIn(text)
  for (const amount of amounts)
    expect({ id, amount, shown }).toEqual({ id, amount, shown: expect.arrayContaining([amount]) })
  for (const name of names)
    expect({ id, text: plainText(text) }).toEqual({ id, text: expect.stringContaining(plainText(name)) })
}

const PLACES: readonly (readonly [string, RecordPage])[] = [
  ...Object.entries(DASHBOARD_PAGES).map(([name, path]) => [name, { path }] as const),
  ...Object.entries(RECORD_PAGES),
]

// Guarantee: whatever people name things and however large or small amounts are, a page or a drawer shows what its server says, in lists
// and of one record: the same numbers with the same units, whole names as text, names of networks and not their ids. It works for people who
// cannot see it, in both themes, on a desk and on a phone, and nothing of it is beyond the window's edge. The pages are those of the router
// (`dashboard-routes.test.ts`).
test.each(namedOf(PLACES, 'invoices', 'products', 'invoice partial', 'deliveries: first row'))(
  '%s shows extreme values as its server says them, to everyone',
  async (name, place) => {
    const { page, rows, records } = await openExtreme(place)
    const faults = await looksOf(page)
    expect({ name, faults }).toEqual({ name, faults: [] })
    await page.setViewportSize({ width: 1280, height: 800 })
    // A delivery that moves is read again while it is looked at; its drawer shows the newest answer a moment after it was given.
    await vi.waitFor(async () => {
      const text = await shownText(page)
      expect([name, rawIds(text), ungroupedIn(text), overlongIn(text)]).toEqual([name, [], [], []])
      for (const [id, said] of rows) expectSaid(id, await shownText(page, `main [data-row-id="${id}"]`), said)
      for (const [procedure, put] of records) {
        const last = put.findLast(({ field }) => field === LAST)
        const isShown = (one: PutIn) => one.field !== LAST || one === last
        const shown = put.filter((one) => isShown(one) && RECORDS[procedure]?.includes(one.field) !== true)
        for (const { field, amount, name: given } of shown)
          expectSaid(`${procedure} ${field}`, text, { amounts: texts(amount), names: texts(given) })
      }
    }, FOLLOWS)
    expect(await page.evaluate('window.attacked === undefined')).toBe(true)
  },
  SLOW_MACHINE_MS,
)

deepTest.each(['/login', '/reset', '/reset?token=unknown', '/invitation?token=unknown'])(
  '%s is accessible to a person without a session',
  async (path) => {
    const { dev } = opened()
    const page = await browser.open({ session: ANYBODY })
    await page.goto(`${dev.adminUrl}${path}`)
    await allArrived(page)
    expect(await looksOf(page)).toEqual([])
  },
  SLOW_MACHINE_MS,
)
