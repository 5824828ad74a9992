import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, brokenWords, settled, sidewaysPixels } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { DASHBOARD_PAGES, dashboardPath } from '#test/support/dashboard-pages.ts'
import { deepTest, sampleOf } from '#test/support/depth.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

// What a person sees on a phone, and where a desk has no room to spare: lines that run together, columns without names or cut off.
const browser = useBrowser()
const opened = useListSeed(browser)
const PHONE = { width: 390, height: 844 }
const DESK = { width: 1280, height: 800 }

async function open(path: string, size: typeof PHONE): Promise<Page> {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState, ...size })
  await page.goto(`${dev.adminUrl}${dashboardPath(path, seed.workspaceId, 'test')}`)
  await settled(page)
  return page
}

/** Whatever reaches past the right edge of the window, or of a box that would have to be scrolled sideways. */
const cutOff = async (page: Page): Promise<unknown> =>
  await page.evaluate(`[...document.querySelectorAll('html, main .pm-table-box, main .pm-card')]
    .filter((box) => box.scrollWidth > box.clientWidth)
    .map((box) => box.className || box.tagName)`)

/** Headings of a table that can be read: inside the window, and with a size. */
const readableHeadings = async (page: Page, table: string): Promise<readonly string[]> =>
  await page.evaluate(`[...document.querySelectorAll('table[aria-label="${table}"] thead th')].filter((cell) => {
    const { left, right, width, height } = cell.getBoundingClientRect()
    return left >= 0 && right <= innerWidth && width > 10 && height > 10
  }).map((cell) => cell.textContent)`)

/** Texts of elements that are broken into several lines. */
const broken = async (page: Page, selector: string): Promise<unknown> =>
  await page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].filter((element) => {
    const text = document.createRange()
    text.selectNodeContents(element)
    return new Set([...text.getClientRects()].map(({ top }) => Math.round(top))).size > 1
  }).map((element) => element.textContent)`)

test.for(sampleOf(['webhooks/deliveries', 'webhooks/events', 'webhooks/endpoints', '/system/chains'], 1))(
  'on a phone the note of a row of %s is below its name, which is one line',
  async (path) => {
    const page = await open(path, PHONE)
    await page.locator('main [data-row-link] small').first().waitFor()
    const beside = await page.evaluate(`[...document.querySelectorAll('main [data-row-link]')].filter((link) => {
    const note = link.querySelector('small')
    if (note === null || note.textContent === '') return false
    const name = document.createRange()
    name.setStart(link, 0)
    name.setEndBefore(note)
    return name.getBoundingClientRect().bottom > note.getBoundingClientRect().top + 1
  }).map((link) => link.textContent)`)
    expect(beside).toEqual([])
    expect(await broken(page, 'main [data-row-link] .pm-mono')).toEqual([])
    expect(await cutOff(page)).toEqual([])
    expect(await axeViolations(page)).toEqual([])
  },
)

// Guarantee: whatever is pasted into a field, the page keeps its width, and does not ask the server what it refuses.
test.for(['invoices/new', '/system/audit'])('a text of 10,000 characters in each field of %s', async (path) => {
  const page = await open(path, DESK)
  for (const field of await page.locator('main :is(textarea, input:not([type=date]))').all()) {
    await field.fill('W'.repeat(10_000))
    await field.blur()
  }
  await settled(page)
  expect(await cutOff(page)).toEqual([])
  expect(await page.getByText('Could not load').count()).toBe(0)
})

// Guarantee: who sets large text in the browser reads every text of the dashboard larger, and no page runs out of its window.
test.for(sampleOf(Object.values(DASHBOARD_PAGES), 4))('%s follows the text size of the browser', async (path) => {
  const page = await open(path, DESK)
  await page.setViewportSize(PHONE)
  await settled(page)
  await page.evaluate(`window.usual = new Map([...document.querySelectorAll('main *')]
    .map((one) => [one, Number.parseFloat(getComputedStyle(one).fontSize)]))`)
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } })
  const small = await page.evaluate(`[...window.usual]
    .filter(([one, size]) => one.isConnected && Number.parseFloat(getComputedStyle(one).fontSize) < size * 1.99)
    .map(([one]) => one.outerHTML.slice(0, 90))`)
  expect(small).toEqual([])
  for (const size of [PHONE, DESK]) {
    await page.setViewportSize(size)
    const split = await brokenWords(page, '.pm-badge, .pm-badge *')
    expect([size.width, await sidewaysPixels(page), split]).toEqual([size.width, 0, []])
  }
  await cdp.detach()
})

test('at 1280 px all columns of the invoices are in view', async () => {
  const page = await open('invoices', DESK)
  await page.locator('main [data-row-id]').first().waitFor()
  expect(await readableHeadings(page, 'invoices')).toContain('Next step')
  expect(await cutOff(page)).toEqual([])
})

test('on a phone the name of a member is one line beside a long address', async () => {
  const page = await open('team', PHONE)
  const name = page.getByRole('table', { name: 'members' }).getByText('Olivia Owner', { exact: true }).first()
  expect((await name.boundingBox())?.height ?? 99).toBeLessThan(30)
})

test('on a phone the rights of each role are below the name of the role', async () => {
  const page = await open('team', PHONE)
  await page.getByRole('table', { name: 'roles' }).waitFor()
  expect(await readableHeadings(page, 'roles')).toEqual(['Permission', 'Owner', 'Admin', 'Support', 'Viewer'])
  const misplaced = await page.evaluate(`(() => {
    const table = document.querySelector('table[aria-label="roles"]')
    const names = [...table.querySelectorAll('thead th')].map((cell) => cell.getBoundingClientRect())
    return [...table.querySelectorAll('tbody tr')].flatMap((row) => [...row.children].map((cell, index) => {
      const { left, right } = cell.getBoundingClientRect()
      return Math.abs(left - names[index].left) < 1 && Math.abs(right - names[index].right) < 1
    })).filter((isBelow) => !isBelow).length
  })()`)
  expect(misplaced).toBe(0)
  expect(await cutOff(page)).toEqual([])
})

test('on a phone the owner of a lease is one line, and the last column is in view', async () => {
  const page = await open('/system/processes', PHONE)
  await page.getByRole('table', { name: 'leases' }).waitFor()
  await page
    .getByRole('button', { name: /^Copy owner of / })
    .first()
    .waitFor()
  expect(await readableHeadings(page, 'leases')).toEqual(['Work', 'Owner', 'Until'])
  expect(await broken(page, 'table[aria-label="leases"] .pm-mono')).toEqual([])
  expect(await cutOff(page)).toEqual([])
})

deepTest(
  'with no exception open a desk shows the oldest, the kinds and the keys, and a phone the list alone',
  async () => {
    const page = await open('exceptions', DESK)
    const pane = page.getByRole('region', { name: 'Select an exception' })
    await pane.getByText('Open by kind').waitFor()
    await pane.getByText('Overpaid', { exact: true }).first().waitFor()
    await pane.getByText('Accept the open exception: moves to the reason').waitFor()
    expect(await axeViolations(page)).toEqual([])
    const oldest = await page.locator('main [data-row-id]').first().getAttribute('data-row-id')
    await pane.getByRole('link', { name: 'Open the oldest' }).click()
    await page.locator('main aside').getByRole('heading').first().waitFor()
    expect(decodeURIComponent(new URL(page.url()).pathname)).toContain(oldest)
    const phone = await open('exceptions', PHONE)
    await phone.locator('main [data-row-id]').first().waitFor()
    expect(await phone.getByText('Open by kind').isVisible()).toBe(false)
  },
)

test('at 1280 px no column of the rates is cut off, however old they are', async () => {
  const { dev, storageState } = opened()
  const page = await browser.open({ session: storageState, ...DESK })
  const aged = (key: string, value: unknown) => (key === 'ageMs' ? 11_900_000 : value)
  await page.route(/\/trpc\/[^?]*rates\.board/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: JSON.stringify(JSON.parse(await response.text(), aged)) })
  })
  await page.goto(`${dev.adminUrl}/system/rates`)
  await page.getByRole('table', { name: 'currencies' }).getByText('3 h 18 min').first().waitFor()
  await settled(page)
  expect(await cutOff(page)).toEqual([])
  for (const table of ['coins', 'currencies'])
    expect(await broken(page, `table[aria-label="${table}"] td:last-child`)).toEqual([])
})

/** What a busy shop sees: every column of its endpoints is as wide as it gets. */
function busy(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('oldestDueAt' in value)) return value
  const figures = {
    made: 128_412,
    tried: 128_400,
    succeeded: 128_101,
    firstTry: 120_222,
    waiting: 1_204,
    retrying: 1_180,
  }
  const times = { firstAttemptP99Ms: 9_480, oldestDueAt: Date.now() - 11_900_000 }
  return { ...value, ...figures, ...times, state: 'degraded', host: 'webhooks.shop.example.com' }
}

test.each(sampleOf([1280, 1440], 1))(
  'no column of the health of webhooks is cut off at %i px, however much is sent',
  async (width) => {
    const { dev, seed, storageState } = opened()
    const page = await browser.open({ session: storageState, width, height: 900 })
    await page.route(/\/trpc\/[^?]*overview\./, async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: JSON.stringify(JSON.parse(await response.text(), busy)) })
    })
    await page.goto(`${dev.adminUrl}${dashboardPath('overview', seed.workspaceId, 'test')}`)
    const table = page.getByRole('table', { name: 'Webhook health' })
    await table.getByText('webhooks.shop.example.com').first().waitFor()
    await settled(page)
    const headings = await readableHeadings(page, 'Webhook health, last 24 h')
    expect(headings.at(-1)).toBe('Oldest overdue')
    expect(headings).toHaveLength(7)
    expect(await cutOff(page)).toEqual([])
  },
)

test('each tab of the settings fits a phone, also with a name of one long word', async () => {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState, ...PHONE })
  const named = (key: string, value: unknown) => (key === 'name' && value === 'Lists' ? 'W'.repeat(64) : value)
  await page.route(/\/trpc\/[^?]*workspace\.get/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: JSON.stringify(JSON.parse(await response.text(), named)) })
  })
  await page.goto(`${dev.adminUrl}${dashboardPath('settings/pricing', seed.workspaceId, 'test')}`)
  const tabs = page.getByRole('navigation', { name: 'Settings: parts' }).getByRole('link')
  await tabs.first().waitFor()
  const names = await tabs.allTextContents()
  expect(names).toContain('Brand')
  for (const name of names) {
    await tabs.getByText(name, { exact: true }).click()
    await expect.poll(() => page.title()).toContain(name)
    await page.locator('main form, main table').first().waitFor()
    await settled(page)
    expect([name, ...((await cutOff(page)) as readonly string[])]).toEqual([name])
  }
})
