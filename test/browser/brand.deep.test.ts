import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createPaymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { axeViolations, rulesOf, settled, showTheme } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { enrolAuthenticator } from '#test/support/enrol-authenticator.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'

// A merchant's logo, colour and contact, from the settings to the payer (docs/decisions/0081-logos.md).
const browser = useBrowser()
const folder = mkdtempSync(join(tmpdir(), 'paymesh-brand-'))
let dev: DevInfo
// Each owner sets up an authenticator.
beforeEach(async () => {
  dev = await ownWorkspace()
})
beforeAll(async () => {
  const picture = sharp({ create: { width: 600, height: 200, channels: 3, background: 'maroon' } })
  writeFileSync(join(folder, 'logo.png'), await picture.png().toBuffer())
  writeFileSync(join(folder, 'logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
  // The browser takes it for a PNG by its name.
  writeFileSync(join(folder, 'fake.png'), '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function openBrand(): Promise<Page> {
  const page = await browser.open()
  await logIn(page, dev)
  await enrolAuthenticator(page, dev.ownerPassword ?? '')
  await page.goto(`${dev.adminUrl}${dashboardPath('settings/brand', dev.workspaceId, 'test')}`)
  await settled(page)
  return page
}

const colourOf = async (page: Page): Promise<readonly string[]> =>
  await page.evaluate<readonly string[]>(
    `(({ backgroundColor, color }) => [backgroundColor, color])(getComputedStyle(document.querySelector('.bill')))`,
  )

// Guarantee: what a merchant sets is what payers see, readable in both themes, and an open page survives its removal.
test('a logo and a colour reach the checkout, the receipt and the link', async () => {
  const page = await openBrand()
  const file = page.getByLabel('Add a logo')
  await file.setInputFiles(join(folder, 'logo.svg'))
  await page.getByText('Choose a PNG, JPEG or WebP file.').waitFor()
  await file.setInputFiles(join(folder, 'fake.png'))
  await page.getByText('The picture must be a PNG, JPEG or WebP file.').waitFor()
  await file.setInputFiles(join(folder, 'logo.png'))
  await page.getByRole('img', { name: 'Logo of Corner Shop' }).waitFor()

  const colour = page.getByLabel('Colour of the checkout')
  await colour.fill('yellow')
  await page.getByText('Enter # and six digits, like #0b4f57.').waitFor()
  expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await colour.fill('#FFD500')
  await page.getByText('Text would be hard to read in #ffd500').waitFor()
  for (const theme of ['light', 'dark'] as const) {
    await showTheme(page, theme)
    expect([theme, await axeViolations(page, rulesOf(theme))]).toEqual([theme, []])
  }
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved. Applies to new invoices.').first().waitFor()

  const shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const invoice = await shop.invoices.create({ amount: '25.00', currency: 'USD', asset: 'usdt_ethereum' })
  const payer = await browser.open()
  await payer.goto(invoice.urls.checkout)
  await settled(payer)
  const logo = payer.locator('img.brand-logo')
  expect(await logo.getAttribute('src')).toMatch(/^\/logo\/[0-9a-f]{64}\.webp$/)
  await expect.poll(() => payer.evaluate(`document.querySelector('img.brand-logo').naturalWidth`)).toBe(480)
  expect(await colourOf(payer)).toEqual(['rgb(255, 213, 0)', expect.stringMatching(/^rgb\(\d{1,2}, \d{1,2}, 0\)$/)])
  for (const colorScheme of ['light', 'dark'] as const) {
    await payer.emulateMedia({ colorScheme })
    expect([colorScheme, await axeViolations(payer, rulesOf(colorScheme))]).toEqual([colorScheme, []])
  }
  await payer.getByText('I sent it on another network').click()
  await payer.getByText('The shop’s website or your order confirmation says how to reach Corner Shop.').waitFor()
  await payer.goto(`${invoice.urls.checkout}/receipt`)
  await payer.locator('img.brand-logo').waitFor()

  await payer.goto(invoice.urls.checkout)
  await settled(payer)
  await page.getByRole('button', { name: 'Remove the logo' }).click()
  await page.getByText('No logo').waitFor()
  // The open page keeps what it has loaded; one that has not loaded it yet shows initials.
  expect(await payer.locator('img.brand-logo').count()).toBe(1)
  await payer.route('**/api/i/*', async (route) => {
    const answer = await route.fetch()
    const body = await answer.json()
    body.view.merchant.logo = { path: `/logo/${'0'.repeat(64)}.webp`, width: 480, height: 160, ground: 'light' }
    await route.fulfill({ json: body })
  })
  await payer.reload()
  await payer.locator('.monogram').filter({ hasText: 'CS' }).waitFor()
})

test('the contact is shown wherever the payer is asked to write, and on the receipt', async () => {
  const page = await openBrand()
  await page.goto(`${dev.adminUrl}${dashboardPath('settings/business', dev.workspaceId, 'test')}`)
  await page.getByLabel('Support contact').fill('help@corner.example')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved. Applies to new invoices.').first().waitFor()
  const shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const invoice = await shop.invoices.create({ amount: '25.00', currency: 'USD', asset: 'usdt_ethereum' })
  const payer = await browser.open()
  await payer.goto(invoice.urls.checkout)
  await payer.getByText('I sent it on another network').click()
  const link = payer.getByRole('link', { name: 'help@corner.example' })
  expect(await link.first().getAttribute('href')).toBe('mailto:help@corner.example')
  await payer.goto(`${invoice.urls.checkout}/receipt`)
  await payer.getByRole('link', { name: 'help@corner.example' }).waitFor()
})
