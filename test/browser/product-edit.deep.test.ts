import { beforeAll, expect, test } from 'vitest'
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

// Guarantee: who edits a product in an old tab sees what the other tab saved, and replaces it only on purpose.
test('a product is edited in two tabs', async () => {
  const page = await browser.open()
  await logIn(page, dev, dashboardPath('products', dev.workspaceId, 'test'))
  await page.getByRole('button', { name: 'New product' }).first().click()
  const made = page.getByRole('dialog', { name: 'New product' })
  await made.getByLabel('Name').fill('Cup')
  await made.getByRole('textbox', { name: /^Price/ }).fill('5')
  await made.getByRole('button', { name: 'Add product' }).click()
  await page.getByRole('button', { name: 'Edit Cup' }).waitFor()

  const other = await page.context().newPage()
  await other.goto(page.url())
  for (const tab of [page, other]) await tab.getByRole('button', { name: 'Edit Cup' }).click()
  const [first, second] = [page, other].map((tab) => tab.getByRole('dialog', { name: 'Edit product' }))
  if (first === undefined || second === undefined) throw new Error('no dialogs')
  await second.getByRole('textbox', { name: /^Price/ }).fill('8')
  await first.getByLabel('Name').fill('Mug')
  await first.getByRole('textbox', { name: /^Price/ }).fill('6.50')
  expect(await axeViolations(page, 'all')).toEqual([])
  await first.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Edit Mug' }).waitFor()

  const save = second.getByRole('button', { name: 'Save' })
  // Without waiting until it is enabled: by now it may never be.
  await save.dispatchEvent('click')
  await second.getByText('Changed meanwhile. Now stored: “Mug”, 6.50 USD.').waitFor()
  await second.getByRole('button', { name: 'Keep mine' }).click()
  expect(await second.getByRole('textbox', { name: /^Price/ }).inputValue()).toBe('8')
  await save.click()
  await other.getByRole('button', { name: 'Edit Cup' }).waitFor()
  await other.getByText('8.00').first().waitFor()
})
