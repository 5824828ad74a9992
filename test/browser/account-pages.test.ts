import { beforeAll, expect, test } from 'vitest'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { axeViolations, rulesOf, settled, showTheme, sidewaysPixels } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { deepTest, sampleOf } from '#test/support/depth.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'

const browser = useBrowser()
let dev: DevInfo
beforeAll(async () => {
  dev = await ownWorkspace()
})

/** Pages before the log-in work for people who cannot see them, on a phone as well. */
test.each(sampleOf(['/login', '/reset', `/reset#${'a'.repeat(43)}`, `/invitation#${'a'.repeat(43)}`], 1))(
  '%s is accessible in both themes',
  async (path) => {
    const page = await browser.open()
    await page.goto(`${dev.adminUrl}${path}`)
    await settled(page)
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      for (const colorScheme of ['light', 'dark'] as const) {
        await showTheme(page, colorScheme)
        const found = await axeViolations(page, rulesOf(colorScheme))
        expect({ width, colorScheme, found }).toEqual({ width, colorScheme, found: [] })
      }
      expect(await sidewaysPixels(page)).toBe(0)
    }
  },
)

deepTest(
  'settings, keys, team and the account are accessible with their questions open',
  {
    timeout: 240_000,
  },
  async () => {
    const page = await browser.open()
    await logIn(page, dev)
    const look = async (path: string, button?: string) => {
      await page.goto(`${dev.adminUrl}${path}`)
      await settled(page)
      if (button !== undefined) await page.getByRole('button', { name: button }).first().click()
      if (button !== undefined) await page.locator('form').last().waitFor()
      expect({ path, found: await axeViolations(page) }).toEqual({ path, found: [] })
    }
    const place = `/${dev.workspaceId}/test`
    for (const section of ['payments', 'confirmations', 'business', 'brand', 'history'])
      await look(`${place}/settings/${section}`)
    await look(`${place}/keys`, 'New key')
    await look(`${place}/team`, 'Invite')
    await look('/account', 'Set up authenticator')
    await page.getByLabel('Your password').fill(dev.ownerPassword ?? '')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('img', { name: 'Code for your authenticator app' }).waitFor()
    expect(await axeViolations(page)).toEqual([])
  },
)
