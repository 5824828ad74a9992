import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { createPaymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { axeViolations } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'

const browser = useBrowser()
let dev: DevInfo
beforeAll(async () => {
  dev = await ownWorkspace()
})

// Guarantee: a merchant with one seat sells one, and whoever comes too late is told so on the page.
test('a link for one payment is taken by one of two payers who have it open', async () => {
  const page = await browser.open()
  await logIn(page, dev, dashboardPath('links', dev.workspaceId, 'test'))
  await page.getByRole('button', { name: 'New link' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New payment link' })
  await dialog.getByLabel('Title').fill('Last seat')
  await dialog.getByRole('textbox', { name: /^Amount/ }).fill('25')
  const places = dialog.getByLabel('Number of payments (optional)')
  await places.fill('1.5')
  await dialog.getByText('A whole number from 1 to 1000.').waitFor()
  await places.fill('1')
  await dialog.getByLabel('Ends at (optional)').fill('2099-12-31T23:59')
  await dialog.getByRole('button', { name: 'Create link' }).click()
  await page.getByRole('heading', { name: 'Last seat' }).waitFor()
  await page.getByText('0 of 1').waitFor()
  const id = new URL(page.url()).pathname.split('/').at(-1)

  const [first, second] = [await browser.open(), await browser.open()]
  for (const payer of [first, second]) {
    await payer.goto(`${dev.checkoutUrl}/l/${id}`)
    await payer.getByRole('heading', { name: 'Last seat' }).waitFor()
    await payer
      .getByRole('radio', { name: /Ethereum/ })
      .first()
      .check()
  }
  await first.getByRole('button', { name: PAY }).click()
  await first.getByText('Waiting for your payment').first().waitFor()
  await second.getByRole('button', { name: PAY }).click()
  await second.getByRole('heading', { name: 'Every use of this payment link is taken' }).waitFor()
  expect(await axeViolations(second, 'all')).toEqual([])
})

/** The button of a payer who chose a coin on Ethereum. */
const PAY = /^Continue with \w+ on Ethereum$/

const dialogOf = async (page: Page) => {
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit payment link' })
  await dialog.getByLabel('Title').waitFor()
  return dialog
}

// Guarantee: who edits a link in an old tab sees what the other tab saved, and replaces it only on purpose.
test('a link is edited in two tabs, and payers get the new terms', async () => {
  const page = await browser.open()
  await logIn(page, dev, dashboardPath('links', dev.workspaceId, 'test'))
  await page.getByRole('button', { name: 'New link' }).first().click()
  const made = page.getByRole('dialog', { name: 'New payment link' })
  await made.getByLabel('Title').fill('Tour')
  await made.getByRole('textbox', { name: /^Amount/ }).fill('25')
  await made.getByRole('button', { name: 'Create link' }).click()
  await page.getByRole('heading', { name: 'Tour' }).waitFor()
  const id = new URL(page.url()).pathname.split('/').at(-1)
  const payer = await browser.open()
  await payer.goto(`${dev.checkoutUrl}/l/${id}`)
  await payer.getByText('25.00').first().waitFor()
  await payer
    .getByRole('radio', { name: /Ethereum/ })
    .first()
    .check()
  await payer.getByRole('button', { name: PAY }).click()
  await payer.getByText('Waiting for your payment').first().waitFor()

  const other = await page.context().newPage()
  await other.goto(page.url())
  const [first, second] = [await dialogOf(page), await dialogOf(other)]
  await first.getByText('Counted from now on: the invoices made so far (1) take no place.').waitFor()
  await first.getByLabel('Title').fill('Night tour')
  await first.getByRole('textbox', { name: /^Amount/ }).fill('30')
  await first.getByLabel('Number of payments (optional)').fill('12')
  expect(await axeViolations(page, 'all')).toEqual([])
  await second.getByRole('textbox', { name: /^Amount/ }).fill('20')
  await first.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Night tour' }).waitFor()
  await page.getByText('0 of 12').waitFor()

  // The other tab learns of it at once or when it saves; what was typed there is kept.
  const keep = second.getByRole('button', { name: 'Keep mine' })
  const save = second.getByRole('button', { name: 'Save' })
  // Without waiting until it is enabled: by now it may never be.
  await save.dispatchEvent('click')
  await second.getByText('Changed meanwhile. Now stored: “Night tour”, 30.00 USD, 12 payments, no end.').waitFor()
  expect(await save.isEnabled()).toBe(false)
  await keep.click()
  expect(await second.getByRole('textbox', { name: /^Amount/ }).inputValue()).toBe('20')
  await save.click()
  await other.getByRole('heading', { name: 'Tour', exact: true }).waitFor()
  const late = await browser.open()
  await late.goto(`${dev.checkoutUrl}/l/${id}`)
  await late.getByText('20.00').first().waitFor()
  await payer.reload()
  await payer.getByText('25.00').first().waitFor()
})

// Guarantee: a link with a price begins with the coin, also on a phone, and one press makes one invoice with that coin.
test('a link with a price starts at the coin, with title and description on a phone', async () => {
  const shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const link = await shop.paymentLinks.create({
    ...{ title: 'Walking tour', description: 'Two hours through the old town.', currency: 'USD', amount: '25.00' },
  })
  const payer = await browser.open({ width: 375 })
  await payer.goto(link.url)
  await payer.getByRole('heading', { name: 'Walking tour' }).waitFor()
  await payer.locator('.link-about').getByText('Two hours through the old town.').waitFor()
  await payer.getByRole('button', { name: 'Choose a coin to continue' }).waitFor()
  expect(await axeViolations(payer, 'all')).toEqual([])
  expect((await shop.paymentLinks.get(link.id)).uses).toBe(0)
  await payer
    .getByRole('radio', { name: /Ethereum/ })
    .first()
    .check()
  await payer.getByRole('button', { name: PAY }).dblclick()
  await payer.getByRole('heading', { name: /^Send .* on Ethereum$/ }).waitFor()
  expect((await shop.paymentLinks.get(link.id)).uses).toBe(1)
  const first = payer.url()
  // Back, and the same choice again: the same invoice.
  await payer.goto(link.url)
  await payer
    .getByRole('radio', { name: /Ethereum/ })
    .first()
    .check()
  await payer.getByRole('button', { name: PAY }).click()
  await payer.getByRole('heading', { name: /^Send .* on Ethereum$/ }).waitFor()
  expect(payer.url()).toBe(first)
})
