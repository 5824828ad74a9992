import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, settled, showTheme } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

const browser = useBrowser()
const opened = useListSeed(browser)

async function open(path: string): Promise<Page> {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState, width: 1280, height: 900 })
  await page.goto(`${dev.adminUrl}${dashboardPath(path, seed.workspaceId, 'test')}`)
  await settled(page)
  return page
}

const field = (page: Page) => page.getByRole('textbox', { name: 'Search everywhere' })
const entries = (page: Page) => page.getByRole('dialog', { name: 'Search everywhere' }).locator('[data-action]')

/** A transaction that counts, from its row in the list of payments, and the number of its invoice. */
async function paidTransaction(page: Page): Promise<{ readonly hash: string; readonly invoice: string }> {
  const counted = page.locator('main [data-row-id]').filter({ hasText: '#' }).filter({ hasNotText: 'Not applied' })
  const row = counted.filter({ has: page.locator('a[href*="explain?q="]') }).first()
  const href = (await row.locator('a[href*="explain?q="]').getAttribute('href')) ?? ''
  const invoice = (await row.locator('a[href*="/invoices/"]').textContent()) ?? ''
  return { hash: new URL(href, page.url()).searchParams.get('q') ?? '', invoice }
}

/** Lets no script through until `release`; `isRequested` once one was requested. */
async function holdScripts(page: Page) {
  const opening: (() => void)[] = []
  const gate = new Promise<void>((open) => opening.push(open))
  let isRequested = false
  await page.route('**/assets/*.js', async (route) => {
    isRequested = true
    await gate
    await route.continue()
  })
  return { isRequested: () => isRequested, release: (): void => opening[0]?.() }
}

// Guarantee: what a person has in front of them leads to the invoice: the transaction, its page in an explorer, the customer.
test('a transaction that paid, its page in an explorer, and the customer find the invoice', async () => {
  const page = await open('payments')
  const { seed } = opened()
  const { hash, invoice } = await paidTransaction(page)
  expect(invoice).toMatch(/^#\d+$/)
  await page.keyboard.press('Control+k')
  for (const text of [hash, `https://etherscan.io/tx/${hash}#eventlog`]) {
    await field(page).fill(text)
    await expect.poll(() => entries(page).first().textContent()).toContain(`Invoice ${invoice}`)
  }
  await field(page).fill('LIST-8')
  await expect.poll(() => entries(page).first().textContent()).toContain(`Invoice #${seed.paidNumber}`)
  await field(page).fill('ana')
  await entries(page).filter({ hasText: 'Invoice #' }).first().waitFor()
  // The first entry is chosen already: what it says can be read on its ground.
  await page.locator('[data-action][data-selected]').waitFor()
  for (const theme of ['light', 'dark'] as const) {
    await showTheme(page, theme)
    expect([theme, await axeViolations(page, 'looks', { isInDialog: true })]).toEqual([theme, []])
  }
  await field(page).press('Enter')
  await page.waitForURL(`**/invoices/${seed.invoices['pending']}`)
})

test('pages and actions are found by their names', async () => {
  const page = await open('overview')
  const at = (path: string) => `**${dashboardPath(path, opened().seed.workspaceId, 'test')}`
  for (const [text, path] of [
    ['settlements', 'settlements'],
    ['new invoice', 'invoices/new'],
    ['Webhook ev', 'webhooks/events'],
  ] as const) {
    await page.keyboard.press('Control+k')
    await field(page).fill(text)
    await field(page).press('Enter')
    await page.waitForURL(at(path))
    await settled(page)
    await page.locator('main h1').click()
  }
})

// Guarantee: what is typed before the search has its field is its text, Enter included, and no shortcut of the page below.
test('keys that are typed before the search is ready are kept', async () => {
  const page = await open('invoices')
  const { isRequested, release } = await holdScripts(page)
  await page.keyboard.press('Control+k')
  await expect.poll(isRequested).toBe(true)
  await page.keyboard.type('gi-settlemenx')
  await page.keyboard.press('Backspace')
  await page.keyboard.type('ts')
  release()
  await expect.poll(() => field(page).inputValue()).toBe('gi-settlements')
  expect(new URL(page.url()).pathname).toBe(dashboardPath('invoices', opened().seed.workspaceId, 'test'))
})

test('Enter before the search is ready opens the first result', async () => {
  const page = await open('invoices')
  const { isRequested, release } = await holdScripts(page)
  await page.keyboard.press('Control+k')
  await expect.poll(isRequested).toBe(true)
  await page.keyboard.type('settlements')
  await page.keyboard.press('Enter')
  release()
  await page.waitForURL(`**${dashboardPath('settlements', opened().seed.workspaceId, 'test')}`)
})
