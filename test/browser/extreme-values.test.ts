import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { settled, sidewaysPixels } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { DASHBOARD_PAGES, dashboardPath } from '#test/support/dashboard-pages.ts'
import { namedOf } from '#test/support/depth.ts'
import { readShown, withExtremeValues } from '#test/support/extreme-values.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

const browser = useBrowser()
const opened = useListSeed(browser)
const SLOW_MACHINE_MS = 120_000
const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
] as const

type Row = Readonly<Record<string, unknown>> & { readonly id: string }
/** What the API says of a row and its page shows: amounts with their unit, and names. */
interface Said {
  readonly amounts: readonly string[]
  readonly names: readonly string[]
}
const texts = (...values: readonly unknown[]) => values.filter((value): value is string => typeof value === 'string')
const money = (value: unknown) => {
  const { value: amount, currency } = value as { readonly value: string; readonly currency: string }
  return `${amount} ${currency}`
}

/** Lists whose rows are compared with the API field by field, by the procedure that fills them. */
const COMPARED: Readonly<Record<string, (row: Row) => Said>> = {
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

/** Opens a page whose server says extreme things; `rows` has what it said of each row of a list that is compared. */
async function openExtreme(path: string) {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState, ...SIZES[0] })
  const rows = new Map<string, Said>()
  await page.route(/\/trpc\//, async (route) => {
    const response = await route.fetch()
    const procedures = new URL(route.request().url()).pathname.split('/trpc/')[1]?.split(',') ?? []
    const text = await response.text()
    const parsed: unknown = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : null
    if (parsed === null) return await route.fulfill({ response, body: text })
    const answers = Array.isArray(parsed) ? parsed : [parsed]
    const changed = answers.map((answer, place) => withExtremeValues(procedures[place] ?? '', answer))
    for (const [place, answer] of changed.entries()) {
      const compare = COMPARED[procedures[place] ?? '']
      const items = (answer as { result?: { data?: { items?: readonly Row[] } } }).result?.data?.items ?? []
      if (compare !== undefined) for (const row of items) rows.set(row.id, compare(row))
    }
    await route.fulfill({ response, body: JSON.stringify(Array.isArray(parsed) ? changed : changed[0]) })
  })
  await page.goto(`${dev.adminUrl}${dashboardPath(path, seed.workspaceId, 'test')}`)
  await settled(page)
  return { page, rows }
}

/** Ids of networks that are no word of a sentence; their names begin with a capital. */
const IDS = NETWORK_IDS.filter((id) => id !== 'base')
const rawIds = (text: string) => IDS.filter((id) => new RegExp(`(^|[\\s(·,])${id}($|[\\s),.·])`, 'm').test(text))
const shownText = async (page: Page) => await page.evaluate<string>(`document.querySelector('main').innerText`)
/** Marks that pages leave out of names or make visible, and what the browser itself folds. */
const plain = (text: string) => text.replace(/[\p{Cf}\s␦]|[\u2066-\u2069]|U\+[0-9A-F]{4}/gu, '')

const PAGES = namedOf(Object.entries(DASHBOARD_PAGES), 'invoices', 'payments', 'products')

// Guarantee: whatever people name things and however large or small amounts are, a page shows what its server says: the same numbers
// with the same units, whole names as text, names of networks and not their ids, and nothing beyond the window's width. The pages are
// those of the router (`dashboard-routes.test.ts`).
test.each(PAGES)(
  '%s shows extreme values as its server says them',
  async (_name, path) => {
    const { page, rows } = await openExtreme(path)
    for (const size of SIZES) {
      await page.setViewportSize(size)
      expect([path, size.width, await sidewaysPixels(page)]).toEqual([path, size.width, 0])
      expect([path, rawIds(await shownText(page))]).toEqual([path, []])
    }
    await page.setViewportSize(SIZES[0])
    for (const [id, { amounts, names }] of rows) {
      const text = await page.evaluate<string>(`document.querySelector('main [data-row-id="${id}"]').innerText`)
      const shown = [...text.matchAll(/([\d,.\u2212]+)(?: of ([\d,.]+))?[\s\u00a0]([A-Za-z]+)/g)].flatMap(
        ([, first = '', second, unit = '']) =>
          [first, ...(second === undefined ? [] : [second])].map((one) => `${readShown(one)} ${unit}`),
      )
      for (const amount of amounts)
        expect({ id, amount, shown }).toEqual({ id, amount, shown: expect.arrayContaining([amount]) })
      for (const name of names)
        expect({ id, text: plain(text) }).toEqual({ id, text: expect.stringContaining(plain(name)) })
    }
    expect(await page.evaluate('window.attacked === undefined')).toBe(true)
  },
  SLOW_MACHINE_MS,
)
