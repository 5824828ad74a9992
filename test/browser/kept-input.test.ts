import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { createPaymesh, type Paymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { axeViolations, settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { deepTest } from '#test/support/depth.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'

const browser = useBrowser()
let dev: DevInfo
let shop: Paymesh

beforeAll(async () => {
  dev = await ownWorkspace()
  shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
})

async function open(path: string, expected?: RegExp): Promise<Page> {
  const page = await browser.open(expected === undefined ? {} : { expected })
  await logIn(page, dev, dashboardPath(path, dev.workspaceId, 'test'))
  await settled(page)
  return page
}

/** The same person again, in the dialog above the page. */
async function logInAgain(page: Page): Promise<void> {
  const again = page.getByRole('dialog', { name: 'Log in again' })
  await again.waitFor()
  expect(await axeViolations(page)).toEqual([])
  await again.getByLabel('Email').fill(dev.ownerEmail ?? '')
  await again.getByRole('textbox', { name: 'Password' }).fill(dev.ownerPassword ?? '')
  await again.getByRole('button', { name: 'Log in' }).click()
  await again.waitFor({ state: 'detached' })
}

/** Presses a button although the page may have learnt meanwhile, from its own question, that the session is over. */
async function pressWithoutSession(page: Page, button: Locator): Promise<void> {
  await page.context().clearCookies()
  await button.dispatchEvent('click')
}

const invoicesOf = async (orderId: string) => (await shop.invoices.list({ order_id: orderId }).page()).data.length

// Guarantee: a session that ends in the middle of a form costs a log-in and nothing that was typed, and the form is done once.
test('a session that ended keeps what was typed, on a page and in a dialog', async () => {
  const page = await open('invoices/new')
  await page.getByLabel('Amount').fill('12,50')
  await page.getByLabel('Order (optional)').fill('kept-1')
  await pressWithoutSession(page, page.getByRole('button', { name: 'Create invoice' }))
  await page.getByRole('dialog', { name: 'Log in again' }).waitFor()
  // Nothing of the page can be read or used meanwhile.
  expect(await page.evaluate(`document.querySelector('main')?.closest('[inert]') !== null`)).toBe(true)
  await logInAgain(page)
  expect(await page.getByLabel('Amount').inputValue()).toBe('12,50')
  expect(await invoicesOf('kept-1')).toBe(0)
  await page.getByRole('button', { name: 'Create invoice' }).click()
  await page.waitForURL(/invoices\/[0-9a-f-]{36}$/)
  expect(await invoicesOf('kept-1')).toBe(1)

  await page.goto(`${dev.adminUrl}${dashboardPath('links', dev.workspaceId, 'test')}`)
  await settled(page)
  await page.getByRole('button', { name: 'New link' }).first().click()
  const form = page.getByRole('dialog', { name: 'New payment link' })
  await form.getByLabel('Title').fill('Kept in a dialog')
  await form.getByRole('textbox', { name: 'Amount' }).fill('7')
  await pressWithoutSession(page, form.getByRole('button', { name: 'Create link' }))
  await logInAgain(page)
  expect(await form.getByLabel('Title').inputValue()).toBe('Kept in a dialog')
  await form.getByRole('button', { name: 'Create link' }).click()
  await page.waitForURL(/links\/[0-9a-f-]{36}$/)
})

// Guarantee: without a connection the form says so and keeps what was typed; afterwards it is done once.
deepTest('a lost connection keeps the form, and the second try makes one invoice', async () => {
  const page = await open('invoices/new', /ERR_INTERNET_DISCONNECTED/)
  await page.getByLabel('Amount').fill('3.25')
  await page.getByLabel('Order (optional)').fill('kept-2')
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Create invoice' }).click()
  await page.getByRole('alert').getByText('The server did not respond.').waitFor()
  expect(await page.getByLabel('Amount').inputValue()).toBe('3.25')
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Create invoice' }).click()
  await page.waitForURL(/invoices\/[0-9a-f-]{36}$/)
  expect(await invoicesOf('kept-2')).toBe(1)
})

// Guarantee: what the server did, but could not tell because the connection and then the session were lost, is not done once more.
deepTest('an answer that was lost before the session ended makes no second invoice', async () => {
  const page = await open('invoices/new', /ERR_FAILED/)
  await page.getByLabel('Amount').fill('4.75')
  await page.getByLabel('Order (optional)').fill('kept-3')
  const button = page.getByRole('button', { name: 'Create invoice' })
  await page.route(
    (url) => url.pathname.endsWith('/invoices.create'),
    async (route) => {
      await route.fetch()
      await route.abort()
    },
    { times: 1 },
  )
  await button.click()
  await page.getByRole('alert').getByText('The server did not respond.').waitFor()
  expect(await invoicesOf('kept-3')).toBe(1)
  await pressWithoutSession(page, button)
  await logInAgain(page)
  await button.click()
  await page.waitForURL(/invoices\/[0-9a-f-]{36}$/)
  expect(await invoicesOf('kept-3')).toBe(1)
})

deepTest('amount and currency stand beside each other, and a field says what is wrong when it is left', async () => {
  const page = await open('invoices/new')
  const amount = page.getByLabel('Amount')
  const [left, right] = [await amount.boundingBox(), await page.getByLabel('Currency').boundingBox()]
  expect(Math.abs((left?.y ?? 0) - (right?.y ?? 99))).toBeLessThan(4)
  // Of what is pasted, spaces around it are no fault; groups of digits are never guessed at.
  for (const [typed, echo] of [
    ['  1250.50 ', '= 1,250.50 USD'],
    ['1250,5', '= 1,250.50 USD'],
  ] as const) {
    await amount.fill(typed)
    await page.getByText(echo).waitFor()
  }
  for (const typed of ['1,250.50', '1 250,50', '12.345']) {
    await amount.fill(typed)
    expect(await page.getByText(/^Enter the amount without thousands|^At most 2 decimals/).count()).toBe(0)
    await amount.blur()
    await page.getByText(/^Enter the amount without thousands|^At most 2 decimals/).waitFor()
  }
  const email = page.getByLabel('Customer email (optional)')
  await email.fill('ana@')
  await email.blur()
  await page.getByText('Enter an email address such as ana@example.com, or leave it empty.').waitFor()
  // A form with a fault leads to the field.
  await page.getByRole('button', { name: 'Create invoice' }).click()
  await expect.poll(() => page.evaluate('document.activeElement?.name')).toBe('amount')
  expect(await axeViolations(page)).toEqual([])
})
