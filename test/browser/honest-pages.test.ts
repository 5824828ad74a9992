import { expect, test } from 'vitest'
import { axeViolations, settled, sidewaysPixels } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { deepTest, sampleOf } from '#test/support/depth.ts'
import { inView } from '#test/support/shown-rows.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

const browser = useBrowser()
const opened = useListSeed(browser)
const FIGURES = { timeout: 120_000, interval: 250 }

async function open(path: string, width = 1280) {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState, width })
  await page.goto(`${dev.adminUrl}${dashboardPath(path, seed.workspaceId, 'test')}`)
  await settled(page)
  return page
}

/** What is typed, and the invoice that it means. */
const SEARCHES = {
  'an email address': ({ customerEmail, invoices }) => [customerEmail, invoices['pending'] ?? ''],
  'a number': ({ paidNumber, invoices }) => [String(paidNumber), invoices['paid'] ?? ''],
  "an order's reference": ({ orderId, invoices }) => [orderId, invoices['new'] ?? ''],
} satisfies Readonly<Record<string, (seed: ReturnType<typeof opened>['seed']) => readonly [string, string]>>

// Guarantee: Enter opens what was found, however fast it is pressed; "Explain" only when nothing was.
test.each(sampleOf(Object.entries(SEARCHES), 1))('Ctrl K, %s and Enter open the invoice', async (_what, of) => {
  const [text, id] = of(opened().seed)
  for (const isPatient of [false, true]) {
    const page = await open('overview')
    await page.keyboard.press('Control+k')
    await page.getByRole('textbox', { name: 'Search everywhere' }).pressSequentially(text)
    if (isPatient)
      await page.getByRole('dialog').locator('[data-action][data-selected]').filter({ hasText: 'Invoice #' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/invoices/${id}`)
  }
})

/** What of a column's cell is searched; null where the list has a filter for it. A new column has no entry, and the test fails. */
const SEARCHED_BY: Readonly<Record<string, ((cell: string) => string) | null>> = {
  Invoice: (cell) => cell,
  Status: null,
  Amount: (cell) => cell,
  Received: null,
  Customer: (cell) => cell.split('\n')[0] ?? '',
  Order: (cell) => cell,
  Source: null,
  Created: null,
  'Next step': null,
}

// Guarantee: what a person reads in a row finds the row.
test('the list finds an invoice by what its row shows', async () => {
  const page = await open('invoices')
  const headers = (await page.locator('thead th').allInnerTexts()).map((text) => text.trim())
  expect(headers.filter((header) => !(header in SEARCHED_BY))).toEqual([])
  for (const [header, searched] of Object.entries(SEARCHED_BY)) {
    if (searched === null) continue
    const cells = page.locator(`tbody td[data-label="${header}"]`)
    await page.goto(page.url().replace(/\?.*$/, ''))
    await cells.first().waitFor()
    const texts = await cells.allInnerTexts()
    const text = searched(texts.find((cell) => /[\p{L}\d]/u.test(cell)) ?? '')
    expect([header, text]).not.toEqual([header, ''])
    await page.locator('[data-page-search]').fill(text)
    await page.keyboard.press('Enter')
    await page.waitForURL(/[?&]q=/)
    await page.locator('.pm-list:not([aria-busy="true"]) [data-row-id]').first().waitFor()
    await expect.poll(async () => (await cells.allInnerTexts()).every((cell) => cell.includes(text))).toBe(true)
  }
})

deepTest('Ctrl K, something unknown and Enter open Explain, and a moved selection is what Enter opens', async () => {
  const page = await open('overview')
  await page.keyboard.press('Control+k')
  const field = page.getByRole('textbox', { name: 'Search everywhere' })
  await field.pressSequentially('0xdeadbeef')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/explain?q=0xdeadbeef')
  await page.keyboard.press('Control+k')
  await field.pressSequentially(opened().seed.customerEmail)
  await page.locator('[data-action]').filter({ hasText: 'Invoice #' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/explain\?q=ana/)
})

// Guarantee: an endpoint that refuses what it is sent is never called healthy or 100 %, on any page.
test('an endpoint that refuses everything is failing on the overview, in the list and beside it', async () => {
  const { refusingEndpointId: id } = opened().seed
  const page = await open('overview')
  const card = page.getByRole('table', { name: 'Webhook health, last 24 h' })
  const row = card.getByRole('row').filter({ has: page.locator(`a[href$="${id}"]`) })
  await row.getByText('Failing', { exact: true }).waitFor()
  await row.getByText(/^\d+ retrying$/).waitFor()
  // Deliveries are counted within a minute, and the page reads the figures again every 15 s.
  await expect.poll(() => row.textContent(), FIGURES).toContain('0 %0 % on the first attempt')
  const figure = page.getByRole('region', { name: 'Webhooks delivered' })
  expect(await figure.getByText('100 %', { exact: true }).count()).toBe(0)
  await figure.getByText(/\d+ retrying/).waitFor()
  await row.getByRole('link').click()
  const listed = page.locator(`[data-row-id="${id}"]`)
  await listed.getByText('Failing', { exact: true }).waitFor()
  await listed.getByText(/^0 % of the last \d+/).waitFor()
  const aside = page.getByRole('complementary', { name: 'Endpoint' })
  await aside.getByText(/0 delivered, 0 of them on the first attempt/).waitFor()
  await aside.getByText(/\d+ (queued, \d+ of them|deliver(y is|ies are)) being retried/).waitFor()
})

deepTest('of one moment the timeline shows what came later first', async () => {
  const page = await open(`invoices/${opened().seed.invoices['pending']}`)
  await page.getByText('Events', { exact: true }).click()
  const titles = page.locator('.pm-story .pm-check-title')
  const sentences = ['Payer chose USDT on Ethereum', 'Invoice created']
  await expect.poll(async () => await titles.allTextContents()).toEqual(sentences)
})

test('Explain says statuses, coins and what is missing in the words of pages', async () => {
  const { seed } = opened()
  const page = await open(`explain?q=${seed.invoices['partial']}`)
  await page.getByRole('heading', { name: /^Invoice #\d+ is partly paid$/ }).waitFor()
  await page.getByText(/^[\d.]+ USDT received$/).waitFor()
  await page.getByText(/^[\d.]+ USDT short$/).waitFor()
  expect(await page.locator('main').textContent()).not.toMatch(/base units|usdt_ethereum|\(partial\)/)
})

// Guarantee: without JavaScript there is a sentence and no blank page.
test.each(sampleOf(['dashboard', 'checkout'], 1))(
  'without JavaScript the %s says what it needs, in view',
  async (which) => {
    const { dev, storageState } = opened()
    const probe = await browser.open({ session: storageState })
    const context = await probe.context().browser()?.newContext({ javaScriptEnabled: false })
    if (context === undefined) throw new Error('the browser is gone')
    const page = await context.newPage()
    await page.goto(which === 'dashboard' ? `${dev.adminUrl}/login` : `${dev.checkoutUrl}/i/none`)
    const box = await page.getByText(/needs JavaScript/).boundingBox()
    await context.close()
    expect(box?.y).toBeLessThan(600)
  },
)

deepTest('wide tables on a phone can be scrolled by keys', async () => {
  const page = await open('/system/processes', 390)
  await page.getByRole('table', { name: 'leases' }).waitFor()
  await expect.poll(() => axeViolations(page)).toEqual([])
  expect(await sidewaysPixels(page)).toBe(0)
})

/** Parts of a page that a separate request fills, and that say themselves what failed (of every other one: `failed-reads.test.ts`). */
const BESIDE = {
  'the products': ['links', 'products.list', ['New link', 'Product']],
  'the sources': ['/system/rates', 'rates.board', null],
} as const

// Guarantee: a read that failed is said where its data would be, and never looks like an answer with nothing in it.
test.each(sampleOf(Object.entries(BESIDE), 4))(
  '%s that could not be read are said',
  async (what, [path, read, opens]) => {
    const { dev, seed, storageState } = opened()
    const page = await browser.open({ session: storageState, width: 1280, isAway: true })
    await page.route(new RegExp(`/trpc/[^?]*${read.replace('.', '\\.')}`), (route) =>
      route.fulfill({ status: 503, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }),
    )
    await page.goto(`${dev.adminUrl}${dashboardPath(path, seed.workspaceId, 'test')}`)
    if (opens !== null) {
      await page.getByRole('button', { name: opens[0] }).click()
      await page.getByText(opens[1], { exact: true }).click()
    }
    await page.getByText(`Could not load ${what}.`).waitFor()
    expect(await page.getByText('No source has responded').count()).toBe(0)
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Try again' }).first().click()
    await page.getByText(`Could not load ${what}.`).waitFor({ state: 'hidden' })
  },
)

test('a page opens at its heading, wherever the list before it was', async () => {
  const page = await open('invoices', 390)
  await page.locator('[data-row-id]').last().scrollIntoViewIfNeeded()
  await page.locator('[data-row-id] [data-row-link]').last().click()
  await page.waitForURL(/invoices\/[0-9a-f-]{36}$/)
  await expect.poll(() => inView(page, 'main h1')).toBe(true)
})

/** Attack: rows of the filter before must not be usable while the answer is slow. */
test('while a filter loads, rows of the one before cannot be opened', async () => {
  const page = await open('invoices')
  await page.route(/invoices\.list/, () => undefined)
  await page
    .locator('.pm-tabs a')
    .filter({ hasText: /^Expired/ })
    .click()
  await page.locator('.pm-list[aria-busy="true"] [inert]').waitFor()
  const box = await page.locator('[data-row-id]').first().boundingBox()
  await page.mouse.click((box?.x ?? 0) + 20, (box?.y ?? 0) + 10)
  expect(page.url()).toMatch(/invoices\?status=expired$/)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

/** Attack: an address that somebody sent holds filters that do not exist; the list must say what it shows. */
test('an unknown filter in the address shows all rows under "All"', async () => {
  const page = await open('invoices?status=stolen&asset=gold&period=never')
  const rows = await page.locator('[data-row-id]').count()
  const all = await open('invoices')
  expect(rows).toBe(await all.locator('[data-row-id]').count())
  await page.locator('.pm-tabs a[aria-current]').filter({ hasText: /^All/ }).waitFor()
})

// Guarantee: nobody pastes what they did not copy: where the browser forbids it, that is on the page and not only read aloud.
test('copying that the browser forbids is said beside the button', async () => {
  const page = await open(`invoices/${opened().seed.invoices['pending']}`, 390)
  await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`)
  await page.locator('main').getByRole('button', { name: /^Copy/ }).first().click()
  await page.locator('main').getByText('Not copied: select the text.').waitFor()
  expect(await sidewaysPixels(page)).toBe(0)
})
