import { beforeAll, expect, inject, test } from 'vitest'
import { type DevInfo, readDevInfo } from '#scripts/start/dev-info.ts'
import { axeViolations, settled, sidewaysPixels } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'

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
