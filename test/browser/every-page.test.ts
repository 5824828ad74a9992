import { beforeAll, expect, inject, test } from 'vitest'
import { fillDemo } from '#dev/screenshots/fill-demo.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { axeViolations, EVERY_LOOK, settled, showTheme, sidewaysPixels } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { DASHBOARD_PAGES, dashboardPath } from '#test/support/dashboard-pages.ts'
import { deepTest, sampleOf } from '#test/support/depth.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'

/** Axe takes a second per page, and half a minute on a busy machine. */
const SLOW_MACHINE_MS = 300_000

/** Which themes are looked at by width: each width and each theme once. */
const LOOKS = {
  each: { 1280: ['light'], 1440: ['dark'] },
  every: { 1280: ['light', 'dark'], 1440: ['light', 'dark'] },
} as const

const browser = useBrowser()
let dev: DevInfo
let items: Readonly<Record<string, string>>
let visit: NonNullable<Parameters<typeof browser.open>[0]>

beforeAll(async () => {
  const dataDir = inject('stackDataDir')
  dev = await ownWorkspace()
  items = (await fillDemo(dataDir, dev)).pages
  const page = await browser.open()
  await logIn(page, dev)
  visit = { session: await page.context().storageState() }
})

/** Every page works for people who cannot see it in both themes, fits at both widths, and asks nobody but its own server. */
test.each(sampleOf(Object.entries(DASHBOARD_PAGES), 2))(
  '%s is accessible in both themes',
  async (_name, path) => {
    await look(await browser.open(visit), path)
  },
  SLOW_MACHINE_MS,
)

deepTest(
  'pages of one thing are accessible in both themes',
  async () => {
    const page = await browser.open(visit)
    for (const path of sampleOf(Object.values(items), 2)) await look(page, path)
  },
  SLOW_MACHINE_MS,
)

async function look(page: Awaited<ReturnType<typeof browser.open>>, path: string): Promise<void> {
  await page.goto(`${dev.adminUrl}${dashboardPath(path, dev.workspaceId, 'test')}`)
  await settled(page)
  await expect.poll(async () => await page.title()).toMatch(/ · Paymesh$/)
  for (const [width, themes] of Object.entries(EVERY_LOOK ? LOOKS.every : LOOKS.each)) {
    await page.setViewportSize({ width: Number(width), height: 900 })
    for (const colorScheme of themes) {
      await showTheme(page, colorScheme)
      const found = await axeViolations(page, width === '1280' && colorScheme === 'light' ? 'all' : 'looks')
      expect({ path, width, colorScheme, found }).toEqual({ path, width, colorScheme, found: [] })
    }
    expect(await sidewaysPixels(page)).toBe(0)
  }
}
