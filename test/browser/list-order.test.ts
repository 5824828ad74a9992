import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { DASHBOARD_LISTS, type DashboardList, type ListSort, type ShownRow } from '#test/support/dashboard-lists.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { sampleOf } from '#test/support/depth.ts'
import { everyRow, shownRows } from '#test/support/shown-rows.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

const browser = useBrowser()
const opened = useListSeed(browser)
const PAGE_ROWS = 50
const SLOW_MACHINE_MS = 240_000
const DICTIONARY = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })
const NEWER = { name: 'Newer' }

function urlOf(list: DashboardList, mode: 'test' | 'live'): string {
  const { dev, seed } = opened()
  return `${dev.adminUrl}${dashboardPath(list.page, seed.workspaceId, mode)}`
}

async function open(list: DashboardList, mode: 'test' | 'live'): Promise<Page> {
  const page = await browser.open({ session: opened().storageState, width: 1280, height: 900 })
  await page.goto(urlOf(list, mode))
  await settled(page)
  return page
}

const sorted = Object.entries(DASHBOARD_LISTS).flatMap(([name, list]) =>
  (list.sorts ?? []).map((sort): [string, DashboardList, ListSort] => [`${name} by ${sort.heading}`, list, sort]),
)

type Direction = 'ascending' | 'descending'
const idsOf = (rows: readonly ShownRow[]) => rows.map(({ id }) => id)

function expectOrder(rows: readonly ShownRow[], { keyOf }: ListSort, direction: Direction): void {
  const keys = rows.map(keyOf)
  const wanted = keys.toSorted((left, right) =>
    typeof left === 'number' && typeof right === 'number' ? left - right : DICTIONARY.compare(`${left}`, `${right}`),
  )
  expect(keys).toEqual(direction === 'ascending' ? wanted : wanted.reverse())
}

// Guarantee: in each direction every row of a list is shown once, in order over all pages; the direction is in the address and is said.
test.each(sampleOf(sorted, 1))(
  '%s is in order over all pages, both ways',
  { timeout: SLOW_MACHINE_MS },
  async (_name, list, sort) => {
    const isLong = list.isLong === true
    const mode = isLong ? 'live' : 'test'
    const page = await open(list, mode)
    const all = idsOf((await shownRows(page, list)) ?? [])
    const heading = page.getByRole('columnheader', { name: sort.heading, exact: true })
    const isSorted = async (direction: Direction) =>
      await expect.poll(() => heading.getAttribute('aria-sort')).toBe(direction)
    const addresses: string[] = []
    const firsts: (readonly string[])[] = []
    for (const direction of ['ascending', 'descending'] as const) {
      await heading.getByRole('button').click()
      await isSorted(direction)
      await expect
        .poll(() => page.locator('[role="status"].unseen').textContent())
        .toContain(`Sorted by ${sort.heading}`)
      await expect.poll(async () => (await shownRows(page, list)) !== null).toBe(true)
      const rows = (await shownRows(page, list)) ?? []
      expectOrder(rows, sort, direction)
      if (!isLong) expect(idsOf(rows).sort()).toEqual(all.sort())
      addresses.push(page.url())
      firsts.push(idsOf(rows))
    }
    if (!isLong) return expect(all.length).toBeGreaterThan(1)
    // The page stands on the first page in descending order now.
    const descending = await everyRow(page, list)
    expect(descending.length).toBeGreaterThan(2 * PAGE_ROWS)
    // The direction is in the address.
    await page.goto(addresses[0] ?? '')
    await settled(page)
    await isSorted('ascending')
    const ascending = await everyRow(page, list, NEWER)
    expect(idsOf(ascending).sort()).toEqual(idsOf(descending).sort())
    expectOrder(descending, sort, 'descending')
    expectOrder(ascending, sort, 'ascending')
    expect([ascending, descending].map((rows) => idsOf(rows).slice(0, PAGE_ROWS))).toEqual(firsts)
  },
)

/** Rows of these hold text alone. */
const WITHOUT_KEYS = ['history', 'settlements']
const withKeys = Object.entries(DASHBOARD_LISTS).filter(([name]) => !WITHOUT_KEYS.includes(name))

// Guarantee: no list needs a mouse: J and K walk its rows, and / goes to its search, or to the one of all pages.
test.each(sampleOf(withKeys, 1))('%s: J and K walk the rows, / leads to the search', async (_name, list) => {
  const page = await open(list, list.isLong === true ? 'live' : 'test')
  const ids = ((await shownRows(page, list)) ?? []).map(({ id }) => id)
  const focused = async () =>
    await page.evaluate<string | null>(`document.activeElement?.closest('[data-row-id]')?.dataset.rowId ?? null`)
  const walk = [...(ids.length > 1 ? ['j', 'j', 'k'] : ['j'])]
  for (const key of walk) await page.keyboard.press(key)
  await expect.poll(focused).toBe(ids[0])
  if (ids.length > 1) {
    await page.keyboard.press('j')
    await expect.poll(focused).toBe(ids[1])
  }
  await page.keyboard.press('/')
  const hasOwnSearch = (await page.locator('main [data-page-search]').count()) > 0
  const inSearch = hasOwnSearch ? `'main [data-page-search]'` : `'[role="dialog"] input'`
  await expect.poll(() => page.evaluate(`document.activeElement?.matches(${inSearch})`)).toBe(true)
})
