import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, inject, test } from 'vitest'
import { settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { DASHBOARD_LISTS, type DashboardList, type ListFilter } from '#test/support/dashboard-lists.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { sampleOf } from '#test/support/depth.ts'
import { enrolAuthenticator } from '#test/support/enrol-authenticator.ts'
import { logIn } from '#test/support/log-in.ts'
import { openPerson } from '#test/support/open-tenant.ts'
import { choose, countOf, everyRow, inView, OLDER, offers, shownRows } from '#test/support/shown-rows.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

const browser = useBrowser()
const opened = useListSeed(browser)
/** Rows of one page: a list with more would hide what a filter should find. */
const PAGE_ROWS = 50
const SLOW_MACHINE_MS = 240_000
const ASIDE = 'main aside'

function urlOf(list: DashboardList, mode: 'test' | 'live'): string {
  const { dev, seed } = opened()
  return `${dev.adminUrl}${dashboardPath(list.page, seed.workspaceId, mode)}`
}

async function open(list: DashboardList, mode: 'test' | 'live', width = 1280): Promise<Page> {
  const { storageState } = opened()
  const page = await browser.open({ session: storageState, width, height: width < 600 ? 760 : 900 })
  await page.goto(urlOf(list, mode))
  await settled(page)
  return page
}

/** As an owner who has just shown that it is them: the session of the seed did so when it began, maybe too long ago. */
async function openAsAnother(list: DashboardList): Promise<Page> {
  const { dev, seed } = opened()
  const { workspaceId } = seed
  const { email, password } = await openPerson(inject('stackDataDir'), { workspaceId, role: 'owner' })
  const page = await browser.open()
  await logIn(page, { ...dev, ownerEmail: email, ownerPassword: password })
  await enrolAuthenticator(page, password)
  await page.goto(urlOf(list, 'test'))
  await settled(page)
  return page
}

const idsOf = (rows: readonly { readonly id: string }[] | null) => rows?.map(({ id }) => id).sort() ?? null
const textOf = (value: string | ((seed: ReturnType<typeof opened>['seed']) => string)) =>
  typeof value === 'string' ? value : value(opened().seed)

/** The ids in the file behind "Export CSV" as the page stands. */
async function exported(page: Page, { csv }: DashboardList): Promise<readonly string[] | null> {
  if (csv === undefined) return null
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const file = await download
  expect(file.suggestedFilename()).toMatch(new RegExp(`^${csv.what}_[\\w-]*_test\\.csv$`))
  const bytes = readFileSync(await file.path())
  // Excel reads UTF-8 where the file begins with its mark.
  expect(bytes.toString('hex', 0, 3)).toBe('efbbbf')
  const [heading = '', ...lines] = new TextDecoder().decode(bytes).trimEnd().split('\r\n')
  const column = heading.split(',').indexOf(csv.id)
  return lines.map((line) => line.split(',')[column] ?? '').sort()
}

/** Removes the last choice with its chip, as people do; tabs and buttons have none. The focus stays in reach. */
async function removeFilter(page: Page, filter: ListFilter): Promise<void> {
  if (filter.control === 'tab' || filter.control === 'button') return await choose(page, filter, filter.any)
  const chips = page.getByRole('list', { name: 'Active filters' })
  const chip = chips.getByRole('button', { name: /^Remove filter / })
  // What leaves nothing out is no filter to remove.
  expect(await chip.count()).toBe(filter.leavesAll === true ? 0 : 1)
  if (filter.leavesAll === true) return await choose(page, filter, filter.any)
  await chip.click()
  await chips.waitFor({ state: 'detached' })
  expect(await page.evaluate(`document.activeElement?.closest('main search') !== null`)).toBe(true)
  expect(new URL(page.url()).search).toBe('')
}

const filtered = Object.entries(DASHBOARD_LISTS).filter(([, { filters }]) => filters.length > 0)
const nameOf = ({ label, control }: ListFilter) => label || control

// Guarantee: what an operator reads under a filter is true: every row satisfies it, no row that does is missing, the file and the
// count of the tab say the same. Rows are chosen from what the list shows without a filter, by what each row says of itself.
describe.each(filtered)('each filter of %s', (_name, list) => {
  test('shows exactly the rows that match, as do its count and its file', { timeout: SLOW_MACHINE_MS }, async () => {
    const { seed } = opened()
    const page = await open(list, 'test')
    const all = (await shownRows(page, list)) ?? []
    expect(all.length).toBeLessThan(PAGE_ROWS)
    expect(await page.getByRole('button', { name: 'Older' }).count()).toBe(0)
    for (const filter of list.filters) {
      const name = nameOf(filter)
      const shares = []
      for (const { choose: request, shows } of filter.choices) {
        const value = textOf(request)
        await choose(page, filter, value)
        const expected = idsOf(all.filter((row) => shows(row, seed)))
        await expect
          .poll(async () => ({ name, value, ids: idsOf(await shownRows(page, list)) }))
          .toEqual({ name, value, ids: expected })
        const count = await countOf(page, filter, value)
        if (count !== null) expect({ value, count }).toEqual({ value, count: expected?.length })
        const file = await exported(page, list)
        if (file !== null) expect({ name, value, file }).toEqual({ name, value, file: expected })
        shares.push((expected?.length ?? 0) / all.length)
      }
      // A filter that showed everything or nothing whatever is chosen would have passed until here.
      expect([name, shares.some((share) => share > 0 && share < 1)]).toEqual([name, filter.leavesAll !== true])
      await removeFilter(page, filter)
      await expect.poll(async () => idsOf(await shownRows(page, list))).toEqual(idsOf(all))
    }
  })
})

const paged = filtered.filter(
  ([, { isLong, filters }]) => isLong === true && filters.some(({ control }) => control !== 'search'),
)

// Guarantee: what a filter finds beyond the first page of "all" is shown at once; nothing of it waits behind "45 new".
test.each(sampleOf(paged.toReversed(), 1))(
  '%s of three pages: each filter shows the first page of the rows that match',
  { timeout: SLOW_MACHINE_MS },
  async (_name, list) => {
    const { seed } = opened()
    const page = await open(list, 'live')
    const all = await everyRow(page, list)
    expect(all.length).toBeGreaterThan(2 * PAGE_ROWS)
    await page.goto(urlOf(list, 'live'))
    await settled(page)
    const showsFirst = async (name: string, rows: typeof all) => {
      const ids = rows.slice(0, PAGE_ROWS).map(({ id }) => id)
      const shown = async () => ({ name, ids: (await shownRows(page, list))?.map(({ id }) => id) })
      await expect.poll(shown).toEqual({ name, ids })
    }
    for (const filter of list.filters.filter(({ control }) => control !== 'search')) {
      for (const { choose: request, shows } of filter.choices) {
        const value = textOf(request)
        if (!(await offers(page, filter, value))) continue
        await choose(page, filter, value)
        await showsFirst(
          `${nameOf(filter)} ${value}`,
          all.filter((row) => shows(row, seed)),
        )
        expect(await page.locator('.pm-waiting').count()).toBe(0)
        // To the first page of everything, where the next choice begins.
        await choose(page, filter, filter.any)
        await showsFirst('everything', all)
      }
    }
  },
)

const creating = Object.entries(DASHBOARD_LISTS).filter(([, { creates }]) => creates !== undefined)

// Guarantee: nobody has to look for what they have just made.
test.each(sampleOf(creating, 1))('%s: what is made there is on top, once', async (_name, list) => {
  const { creates } = list
  if (creates === undefined) return
  const page = creates.isDangerous === true ? await openAsAnother(list) : await open(list, 'test')
  const before = (await shownRows(page, list))?.length ?? 0
  const made = `Made ${Math.random().toString(36).slice(2, 8)}`
  await page.getByRole('button', { name: creates.button }).first().click()
  const form = page.getByRole('dialog')
  for (const [label, value] of Object.entries(creates.fields)) {
    await form.getByRole('textbox', { name: label }).fill(value.replace('{name}', made))
  }
  await form.getByRole('button', { name: creates.submit }).click()
  await form.waitFor({ state: 'detached' })
  if (creates.opensIt === true) {
    await page.waitForURL(({ pathname }) => !pathname.endsWith(list.page))
    await page.goto(urlOf(list, 'test'))
  }
  await expect.poll(async () => Object.values((await shownRows(page, list))?.[0]?.cells ?? {})[0]).toBe(made)
  expect(await shownRows(page, list)).toHaveLength(before + 1)
  expect(await page.locator('.pm-waiting').count()).toBe(0)
})

const long = Object.entries(DASHBOARD_LISTS).filter(([, { isLong }]) => isLong === true)

test.each(sampleOf(long, 1))('%s: the next page is read from its top', async (_name, list) => {
  const page = await open(list, 'live', 390)
  const first = (await shownRows(page, list)) ?? []
  // The bar at the bottom of a phone has a "More", too.
  await page.locator('#main').getByRole('button', OLDER).click()
  const fresh = async () => {
    const rows = (await shownRows(page, list)) ?? []
    return rows.length > 0 && !rows.some(({ id }) => first.some((row) => row.id === id))
  }
  await expect.poll(fresh).toBe(true)
  await expect.poll(() => inView(page, list.rows)).toBe(true)
})

const openable = Object.entries(DASHBOARD_LISTS).filter(([, { opens }]) => opens !== null)
const rowOf = (id: string) => `main [data-row-id="${id}"]`

/** Opens a row far down by its own link, as a click on it does. */
async function openFarRow(page: Page, list: DashboardList): Promise<string> {
  const rows = (await shownRows(page, list)) ?? []
  const id = rows[Math.max(0, rows.length - 4)]?.id ?? ''
  const row = page.locator(rowOf(id))
  await row.scrollIntoViewIfNeeded()
  const link = row.locator('[data-row-link]')
  await ((await link.count()) > 0 ? link.first() : row).click()
  return id
}

const focusedRow = `document.activeElement?.closest('[data-row-id]')?.dataset.rowId ?? null`

// What a row opens is made when it opens: a window of another width needs no other page.
test.each(sampleOf(openable, 2))(
  '%s: a row far down opens in view at each width, and back and "Close" lead to the row',
  { timeout: SLOW_MACHINE_MS },
  async (_name, list) => {
    const page = await open(list, list.isLong === true ? 'live' : 'test', 390)
    const listUrl = page.url()
    for (const width of [390, 1280, 1440]) {
      await page.setViewportSize({ width, height: width < 600 ? 760 : 900 })
      await settled(page)
      const id = await openFarRow(page, list)
      await page.waitForURL((url) => url.href !== listUrl)
      await settled(page)
      const heading = list.opens === 'aside' ? `${ASIDE} h2` : 'main h1'
      await expect.poll(async () => [width, await inView(page, heading)]).toEqual([width, true])
      await page.goBack()
      await page.waitForURL(listUrl)
      await expect.poll(async () => [width, await inView(page, rowOf(id))]).toEqual([width, true])
      const hasLink = (await page.locator(rowOf(id)).locator('[data-row-link]').count()) > 0
      // People who use keys go on from the row, too.
      if (hasLink) await expect.poll(() => page.evaluate(focusedRow)).toBe(id)
      if (list.opens !== 'aside') continue
      const other = await openFarRow(page, list)
      await page
        .locator(ASIDE)
        .getByRole('button', { name: /^Close/ })
        .first()
        .click()
      await page.locator(ASIDE).waitFor({ state: 'detached' })
      await expect.poll(async () => [width, await inView(page, rowOf(other))]).toEqual([width, true])
    }
  },
)
