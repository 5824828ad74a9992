import { expect, test } from 'vitest'
import { settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { COLUMN_SEARCHES } from '#test/support/column-searches.ts'
import { DASHBOARD_LISTS, type DashboardList } from '#test/support/dashboard-lists.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { choose, shownRows } from '#test/support/shown-rows.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

const browser = useBrowser()
const opened = useListSeed(browser)
const SLOW_MACHINE_MS = 120_000

function listOf(name: string): DashboardList {
  const list = DASHBOARD_LISTS[name]
  if (list === undefined) throw new Error(`no list ${name}`)
  return list
}

// Guarantee: whatever a column shows finds its row when it is typed into the list's search, or a filter of the list chooses it. The
// columns are those on the page: a new one fails until it is declared.
test.each(Object.entries(COLUMN_SEARCHES))(
  'every visible column of %s finds its row',
  async (name, columns) => {
    const list = listOf(name)
    const { dev, seed, storageState } = opened()
    const page = await browser.open({ session: storageState, width: 1280, height: 900 })
    await page.goto(`${dev.adminUrl}${dashboardPath(list.page, seed.workspaceId, 'test')}`)
    await settled(page)
    const rows = (await shownRows(page, list)) ?? []
    expect(Object.keys(rows[0]?.cells ?? {})).toEqual(Object.keys(columns))
    const search = list.filters.find(({ control }) => control === 'search')
    if (search === undefined) throw new Error(`${name} has no search`)
    for (const [heading, column] of Object.entries(columns)) {
      if ('filter' in column) {
        const main = page.locator('main')
        const filter =
          column.filter === 'tabs' ? main.locator('.pm-tabs') : main.getByLabel(column.filter, { exact: true })
        expect({ heading, filters: await filter.count() }).toEqual({ heading, filters: 1 })
        continue
      }
      // Rows of the trade itself: copies of the seed share what belongs to one row only.
      const named = new Map<string, readonly string[]>()
      for (const row of rows) named.set(row.id, await column.texts(row, page))
      const [id, texts = []] =
        [...named].find(([rowId, own]) => own.length > 0 && Object.values(seed.invoices).includes(rowId)) ??
        [...named].find(([, own]) => own.length > 0) ??
        []
      expect({ heading, texts }).not.toEqual({ heading, texts: [] })
      for (const text of texts) {
        await choose(page, search, text)
        const found = async () => (await shownRows(page, list))?.map((row) => row.id) ?? []
        await expect
          .poll(async () => ({ heading, text, found: await found() }))
          .toEqual({
            ...{ heading, text },
            found: expect.arrayContaining([id]),
          })
        const all = rows.length
        await expect
          .poll(async () => ({ heading, text, narrowed: (await found()).length < all }))
          .toEqual({
            ...{ heading, text, narrowed: true },
          })
        await choose(page, search, '')
        await expect.poll(async () => (await found()).length).toBe(all)
      }
    }
  },
  SLOW_MACHINE_MS,
)
