import type { Page } from 'playwright-core'
import { beforeAll, expect, inject, test } from 'vitest'
import { createPaymesh, type Paymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { deepTest } from '#test/support/depth.ts'
import { logIn } from '#test/support/log-in.ts'
import { openPerson, ownWorkspace } from '#test/support/open-tenant.ts'

const browser = useBrowser()
let dev: DevInfo
let shop: Paymesh

beforeAll(async () => {
  dev = await ownWorkspace()
  shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
})

const at = (page: string) => dashboardPath(page, dev.workspaceId, 'test')
const pathOf = (page: Page) => new URL(page.url()).pathname

/** Guarantee: without a log-in no page shows anything, and a link opens where it leads after it. */
test('a stranger is taken to the log-in and back', async () => {
  const page = await browser.open()
  await page.goto(`${dev.adminUrl}${at('invoices?status=paid')}`)
  await page.waitForURL('**/login?back=**')
  await page.getByLabel('Email').fill(dev.ownerEmail ?? '')
  await page.getByRole('textbox', { name: 'Password' }).fill(dev.ownerPassword ?? '')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(`**${at('invoices?status=paid')}`)
  await page.getByRole('heading', { level: 1, name: 'Invoices' }).waitFor()
})

/** Guarantee: test can never pass for live. */
test('test mode is on the page, in its title and in its address; switching keeps the page', async () => {
  const page = await browser.open()
  await logIn(page, dev, at('overview'))
  await settled(page)
  await expect.poll(async () => await page.title()).toMatch(/^\[TEST\] Overview · .+ · Paymesh$/)
  await page.getByText('TEST MODE', { exact: true }).waitFor()
  await page.getByRole('navigation', { name: 'Mode' }).getByRole('link', { name: 'Live' }).click()
  await page.waitForURL('**/live/overview')
  await settled(page)
  await expect.poll(async () => await page.title()).toMatch(/^Overview · /)
  await expect.poll(async () => await page.getByText('TEST MODE', { exact: true }).count()).toBe(0)
})

/** Guarantee: a workspace of others looks like one that does not exist. */
test('foreign workspaces and unknown addresses are not found', async () => {
  const page = await browser.open()
  await logIn(page, dev, `/019aa000-0000-7000-8000-000000000000/live/overview`)
  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
  await page.goto(`${dev.adminUrl}${at('no-such-page')}`)
  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
})

deepTest('keys move between pages, open the search and can be switched off', async () => {
  const page = await browser.open()
  await logIn(page, dev, at('overview'))
  await settled(page)
  // Keys that are pressed within a second and a half belong together; a busy machine may take longer to press them.
  let pressedAt: number
  do {
    pressedAt = performance.now()
    await page.keyboard.press('g')
    await page.keyboard.press('i')
  } while (performance.now() - pressedAt > 1_400)
  await page.waitForURL(`**${at('invoices')}`)
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  const search = page.getByRole('textbox', { name: 'Search everywhere' })
  await search.fill('wallets')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**${at('wallets')}`)
  await page.getByRole('button', { name: /Menu$/ }).click()
  await page.getByRole('menuitem', { name: 'Turn off single-key shortcuts' }).click()
  await page.keyboard.press('g')
  await page.keyboard.press('o')
  expect(pathOf(page)).toBe(at('wallets'))
})

test('the log-out ends the session', async () => {
  const page = await browser.open()
  await logIn(page, dev, at('overview'))
  await settled(page)
  await page.getByRole('button', { name: /Menu$/ }).click()
  await page.getByRole('menuitem', { name: 'Log out' }).click()
  await page.waitForURL('**/login')
  await page.goto(`${dev.adminUrl}${at('overview')}`)
  await page.waitForURL('**/login?back=**')
})

// Guarantee: nobody leaves a computer as logged out whose session goes on.
test('a log-out without an answer says so, and the page stays', async () => {
  const page = await browser.open({ isAway: true })
  await logIn(page, dev, at('overview'))
  await settled(page)
  await page.route('**/trpc/auth.logOut*', (route) => route.abort('connectionrefused'))
  const leave = async () => {
    await page.getByRole('button', { name: /Menu$/ }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
  }
  await leave()
  await page.getByText('You may still be logged in. The server did not respond. Log out again.').waitFor()
  expect(pathOf(page)).toBe(at('overview'))
  await page.unroute('**/trpc/auth.logOut*')
  await leave()
  await page.waitForURL('**/login')
})

test('a page of a person is left when another logs in beside it', async () => {
  const page = await browser.open()
  await page.clock.install()
  await logIn(page, dev, at('invoices'))
  await settled(page)
  await page.evaluate('window.isOld = true')
  await page.route(/\/trpc\/[^?]*auth\.me/, async (route) => {
    const response = await route.fetch()
    const body = (await response.text()).replace(dev.ownerEmail ?? '', 'luis@example.com')
    await route.fulfill({ response, body })
  })
  await page.clock.fastForward(61_000)
  await expect.poll(() => page.evaluate('window.isOld')).toBe(undefined)
})

// Guarantee: nobody acts under the name of a person who logged in beside their page.
test('an action on a page of a person is not done as another one who logged in beside it, and the page is left', async () => {
  const invoice = await shop.invoices.create({ amount: '10.00', currency: 'USD' })
  const colleague = await openPerson(inject('stackDataDir'), { workspaceId: dev.workspaceId, role: 'admin' })
  const page = await browser.open({ expected: /401/ })
  await logIn(page, dev, at(`invoices/${invoice.id}`))
  await page.getByRole('button', { name: 'Cancel invoice' }).click()
  const beside = await page.context().newPage()
  await logIn(beside, { ...dev, ownerEmail: colleague.email, ownerPassword: colleague.password })
  await page.evaluate('window.isOld = true')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel invoice' }).click()
  await expect.poll(() => page.evaluate('window.isOld')).toBe(undefined)
  expect((await shop.invoices.get(invoice.id)).status).toBe('new')
})

/** Guarantee: what happens while a page is open, or while its connection was cut, is shown without a reload; rows do not move. */
test('new invoices wait behind a button, also those made while the connection was cut', async () => {
  const page = await browser.open({ expected: /ERR_INTERNET_DISCONNECTED/ })
  await shop.invoices.create({ amount: '10.00', currency: 'USD' })
  await logIn(page, dev, at('invoices'))
  await settled(page)
  await page.locator('tbody tr').first().waitFor()
  const first = await page.locator('tbody tr').first().getAttribute('data-row-id')
  await shop.invoices.create({ amount: '11.00', currency: 'USD' })
  await page.getByRole('button', { name: '1 new invoice' }).waitFor()
  expect(await page.locator('tbody tr').first().getAttribute('data-row-id')).toBe(first)

  await page.context().setOffline(true)
  await page.getByText('You’re offline').waitFor()
  const missed = await shop.invoices.create({ amount: '12.00', currency: 'USD' })
  await page.context().setOffline(false)
  await page.getByRole('button', { name: '2 new invoices' }).click()
  await page.locator(`tbody tr[data-row-id="${missed.id}"]`).waitFor()
})
