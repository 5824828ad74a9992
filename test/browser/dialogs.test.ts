import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import { beforeAll, expect, inject, test } from 'vitest'
import { axeViolations, rulesOf, settled, showTheme } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { DASHBOARD_DIALOGS, DIALOGS_OF_STORIES } from '#test/support/dashboard-dialogs.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { sampleOf } from '#test/support/depth.ts'
import { enrolAuthenticator } from '#test/support/enrol-authenticator.ts'
import { logIn } from '#test/support/log-in.ts'
import { openPerson } from '#test/support/open-tenant.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

const browser = useBrowser()
const opened = useListSeed(browser)
const SLOW_MACHINE_MS = 240_000
const HOUR_MS = 3_600_000
let session: Awaited<ReturnType<BrowserContext['storageState']>>

/** An owner who has just shown that it is them, so that no dialog asks for a code first. */
beforeAll(async () => {
  const { dev, seed } = opened()
  const { email, password } = await openPerson(inject('stackDataDir'), { workspaceId: seed.workspaceId, role: 'owner' })
  const page = await browser.open()
  await logIn(page, { ...dev, ownerEmail: email, ownerPassword: password })
  await enrolAuthenticator(page, password)
  session = await page.context().storageState()
}, SLOW_MACHINE_MS)

/** What of a dialog is beyond its edge, where nobody sees it. */
const BEYOND = `[...document.querySelectorAll('[role="dialog"] *')]
  .filter((part) => part.getBoundingClientRect().right > part.closest('[role="dialog"]').getBoundingClientRect().right + 1)
  .map((part) => part.textContent)`

const named = DASHBOARD_DIALOGS.flatMap((dialog) =>
  (dialog.isPhone === true ? [390] : [1280, 390]).map((width) => [String(dialog.title), width, dialog] as const),
)

// Guarantee: each dialog can be used without a mouse and without seeing it, is never cut off, and leads back to where it was opened.
test.each(sampleOf(named, 1))(
  '%s at %i px: accessible in both themes, within 900 pixels, and gives the focus back',
  async (_title, width, dialog) => {
    const { dev, seed } = opened()
    const page = await browser.open({ session, width, height: 900 })
    // A page asks for a code again four minutes later, and a busy machine takes longer for all dialogs: to pages the code stays new.
    await page.route(/\/trpc\/[^?]*auth\.me/, async (route) => {
      const response = await route.fetch()
      const body = (await response.text()).replace(/"steppedUpUntil":\d+/, `"steppedUpUntil":${Date.now() + HOUR_MS}`)
      await route.fulfill({ response, body })
    })
    const path = typeof dialog.page === 'string' ? dialog.page : dialog.page(seed)
    await page.goto(`${dev.adminUrl}${dashboardPath(path, seed.workspaceId, 'test')}`)
    await settled(page)
    const { button, key } = dialog
    const opener = button === undefined ? null : page.getByRole('button', { name: button, exact: true }).first()
    if (opener !== null) await opener.click()
    if (key !== undefined) await page.keyboard.press(key)
    const shown = page.getByRole('dialog', { name: dialog.title })
    await shown.waitFor()
    await expect.poll(() => page.evaluate(`document.activeElement?.closest('[role="dialog"]') !== null`)).toBe(true)
    for (const theme of ['light', 'dark'] as const) {
      await showTheme(page, theme)
      const found = await axeViolations(page, rulesOf(theme), { isInDialog: true })
      expect({ title: dialog.title, theme, found }).toEqual({ title: dialog.title, theme, found: [] })
    }
    expect(await page.evaluate(BEYOND)).toEqual([])
    const box = await shown.boundingBox()
    expect((box?.y ?? -1) >= 0 && (box?.y ?? 0) + (box?.height ?? 0) <= 900).toBe(true)
    await page.keyboard.press('Escape')
    await shown.waitFor({ state: 'detached' })
    if (opener !== null) {
      await expect.poll(() => opener.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
    }
  },
  SLOW_MACHINE_MS,
)

const SOURCES = 'services/dashboard/src'

/** Titles of the dialogs in the sources, where they are plain texts. */
function titlesInSources(): readonly string[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tsx'))
  return files.flatMap((name) => {
    const source = readFileSync(join(SOURCES, name), 'utf8')
    return [...source.matchAll(/<Modal\b[^>]*?\btitle="([^"]+)"/gs)].map(([, title = '']) => title)
  })
}

test('every dialog of the sources is declared, here or with the test that looks at it', () => {
  const found = titlesInSources()
  // The search itself works: otherwise it would name nothing.
  expect(found).toContain('New payment link')
  const declared = [...DASHBOARD_DIALOGS.map(({ title }) => String(title)), ...Object.keys(DIALOGS_OF_STORIES)]
  expect(found.filter((title) => !declared.includes(title))).toEqual([])
  for (const file of Object.values(DIALOGS_OF_STORIES)) {
    expect(readFileSync(join('test/browser', file), 'utf8'), file).toContain('axeViolations')
  }
})
