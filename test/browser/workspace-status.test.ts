import { beforeAll, expect, inject, test } from 'vitest'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'
import { runCommand } from '#test/support/run-command.ts'

const browser = useBrowser()
let dev: DevInfo
beforeAll(async () => {
  dev = await ownWorkspace()
})

const at = (page: string) => `${dev.adminUrl}${dashboardPath(page, dev.workspaceId, 'test')}`
const become = async (status: string) => {
  const args = ['workspace', 'update', dev.workspaceId, '--status', status, '--data', inject('stackDataDir')]
  expect(await runCommand(args)).toMatchObject({ status: 0 })
}

/** Guarantee: people of a suspended workspace read what does not work there, and are not offered it. */
test('a suspended workspace says so on its pages, and offers nothing that it refuses', async () => {
  const page = await browser.open()
  await logIn(page, dev, dashboardPath('invoices', dev.workspaceId, 'test'))
  await settled(page)
  await page.getByRole('link', { name: 'New invoice' }).first().waitFor()
  await become('suspended')
  await page.goto(at('invoices'))
  await page.getByText('This workspace is suspended. You can read, export, and decide').waitFor()
  await settled(page)
  expect(await page.getByRole('link', { name: 'New invoice' }).count()).toBe(0)
  await page.goto(at('invoices/new'))
  await page.getByText('This workspace is suspended.', { exact: true }).waitFor()
  await page.goto(at('keys'))
  await settled(page)
  expect(await page.getByRole('button', { name: 'New key' }).first().isDisabled()).toBe(true)
  await become('restricted')
  await page.goto(at('keys'))
  await page.getByText('This workspace is restricted: you can’t create or change invoices').waitFor()
  await settled(page)
  expect(await page.getByRole('button', { name: 'New key' }).first().isDisabled()).toBe(false)
  await become('active')
})
