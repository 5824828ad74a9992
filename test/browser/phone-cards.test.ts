import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { axeViolations, settled, sidewaysPixels } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { DASHBOARD_PAGES, dashboardPath } from '#test/support/dashboard-pages.ts'
import { sampleOf } from '#test/support/depth.ts'
import { lookAtCards } from '#test/support/phone-cards.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

// On a phone the rows of tables are cards without headings: whatever a card shows says what it is.
const browser = useBrowser()
const opened = useListSeed(browser)
const SLOW_MACHINE_MS = 120_000
type Seed = ReturnType<typeof opened>['seed']

/** The tables that are cards, by page; of pages that are not named, none. */
const CARDS: Readonly<Record<string, readonly string[]>> = {
  overview: ['Webhook health, last 24 h'],
  invoices: ['invoices'],
  payments: ['payments'],
  settlements: ['settlements'],
  links: ['links'],
  products: ['products'],
  endpoints: ['endpoints'],
  deliveries: ['deliveries'],
  events: ['events'],
  keys: ['keys'],
  team: ['invitations', 'members'],
  account: ['sessions'],
  chains: ['chains', 'providers'],
  queues: ['queues'],
  rates: ['coins', 'currencies'],
  processes: ['processes'],
  audit: ['actions'],
  // Pages of one thing.
  history: ['actions'],
  invoice: ['Payments'],
  customer: ['invoices', 'totals by currency'],
  exception: ['Evidence'],
}
/** Tables that the test of a story looks at. */
const CARDS_OF_STORIES = { 'words.addresses': 'funds.test.ts' }

const PAGES_OF_ONE: Readonly<Record<string, (seed: Seed) => string>> = {
  history: () => 'settings/history',
  invoice: ({ invoices }) => `invoices/${invoices['paid']}`,
  customer: ({ invoices }) => `customers/${invoices['pending']}`,
  exception: () => 'exceptions?group=money',
}
const PATHS = Object.entries({
  ...Object.fromEntries(Object.entries(DASHBOARD_PAGES).map(([name, path]) => [name, () => path])),
  ...PAGES_OF_ONE,
})

test.each(sampleOf(PATHS, 1))(
  'each figure on a card of %s has the name of its column',
  { timeout: SLOW_MACHINE_MS },
  async (name, pathOf) => {
    const { dev, seed, storageState } = opened()
    const page = await browser.open({ session: storageState, width: 390, height: 844 })
    // Nobody is invited in the seed.
    await page.route(/\/trpc\/[^?]*members\.list/, async (route) => {
      const response = await route.fetch()
      const invitation = {
        id: 'inv_1',
        email: 'new@example.com',
        role: 'support',
        invitedBy: 'Olivia',
        expiresAt: Date.now(),
      }
      const invited = (key: string, value: unknown) => (key === 'invitations' ? [invitation] : value)
      await route.fulfill({ response, body: JSON.stringify(JSON.parse(await response.text(), invited)) })
    })
    await page.goto(`${dev.adminUrl}${dashboardPath(pathOf(seed), seed.workspaceId, 'test')}`)
    await settled(page)
    if (name === 'exception') await page.locator('main [data-row-id]').first().click()
    const expected = CARDS[name] ?? []
    for (const table of expected) await page.locator(`main table[aria-label="${table}"] tbody tr`).first().waitFor()
    await settled(page)
    expect(await lookAtCards(page)).toEqual({ tables: expected, wrong: [] })
    expect(await sidewaysPixels(page)).toBe(0)
    if (expected.length > 0) expect(await axeViolations(page)).toEqual([])
  },
)

const SOURCES = 'services/dashboard/src'

// Guarantee: a new table is looked at, and a new column of one has its name unless it says that its values name themselves.
test('every table of the sources stays a table on a phone, or is one of the cards that are looked at', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tsx'))
  const sources = files.map((name) => readFileSync(join(SOURCES, name), 'utf8'))
  const tables = sources.flatMap((source) => source.match(/<table\s[^>]*>/g) ?? [])
  expect(tables.length).toBeGreaterThan(5)
  expect(tables.filter((table) => !table.includes('pm-table-plain'))).toEqual([
    '<table className="pm-table pm-num" aria-label={label}>',
  ])
  const labels = sources.flatMap((source) => {
    const named = [...source.matchAll(/<(?:DataTable|CardTable)\s[^>]*?\b(?:what|label)=(?:"([^"]+)"|\{([\w.]+)\})/gs)]
    return named.map(
      ([, text, expression = '']) => text ?? (expression === 'TITLE' ? 'Webhook health, last 24 h' : expression),
    )
  })
  const declared = [...Object.values(CARDS).flat(), ...Object.keys(CARDS_OF_STORIES)]
  expect([...new Set(labels)].filter((label) => label !== 'what').sort()).toEqual([...new Set(declared)].sort())
  for (const file of Object.values(CARDS_OF_STORIES)) {
    expect(readFileSync(join('test/browser', file), 'utf8'), file).toContain('lookAtCards')
  }
})
