import { randomUUID } from 'node:crypto'
import { beforeAll, expect, inject, test } from 'vitest'
import { type DevInfo, readDevInfo } from '#scripts/start/dev-info.ts'
import { axeViolations, settled, sidewaysPixels } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { runCli } from '#test/support/world.ts'

const browser = useBrowser()
let dev: DevInfo
beforeAll(() => {
  const info = readDevInfo(inject('stackDataDir'))
  if (info === null) throw new Error('the shared installation is not running')
  dev = info
})

/** Pages before the log-in work for people who cannot see them, on a phone as well. */
test.each(['/login', `/invitation#${'a'.repeat(43)}`])('%s is accessible in both themes', async (path) => {
  const page = await browser.open()
  await page.goto(`${dev.adminUrl}${path}`)
  await settled(page)
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 900 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
      expect({ width, colorScheme, found: await axeViolations(page) }).toEqual({ width, colorScheme, found: [] })
    }
    expect(await sidewaysPixels(page)).toBe(0)
  }
})

test('settings, keys, team and the account are accessible with their questions open', {
  timeout: 240_000,
}, async () => {
  const email = `${randomUUID()}@example.com`
  const facts = ['--email', email, '--name', 'Rita Rey', '--workspace', dev.workspaceId, '--role', 'owner']
  const { password } = await runCli<{ password: string }>(inject('stackDataDir'), ['operator', 'create', ...facts])
  const page = await browser.open()
  await page.goto(`${dev.adminUrl}/login`)
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel(/^Password/).fill(password)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.waitForURL(/overview$/)
  const look = async (path: string, button?: string) => {
    await page.goto(`${dev.adminUrl}${path}`)
    await settled(page)
    if (button !== undefined) await page.getByRole('button', { name: button }).first().click()
    if (button !== undefined) await page.locator('form').last().waitFor()
    expect({ path, found: await axeViolations(page) }).toEqual({ path, found: [] })
  }
  const place = `/${dev.workspaceId}/test`
  for (const section of ['payments', 'confirmations', 'business', 'history']) await look(`${place}/settings/${section}`)
  await look(`${place}/keys`, 'Create a key')
  await look(`${place}/team`, 'Invite')
  await look('/account', 'Set up an authenticator')
  await page.getByLabel('Your password').fill(password)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('img', { name: 'Code for your authenticator app' }).waitFor()
  expect(await axeViolations(page)).toEqual([])
})
