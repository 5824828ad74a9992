import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { DASHBOARD_LISTS } from '#test/support/dashboard-lists.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

const browser = useBrowser()
const opened = useListSeed(browser)
const ASIDE = 'main aside'

/** The ways out of what is open beside a list. */
const ENDS: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  'by Escape': async (page) => await page.keyboard.press('Escape'),
  'by its button': async (page) =>
    await page
      .locator(ASIDE)
      .getByRole('button', { name: /^Close/ })
      .first()
      .press('Enter'),
  'by going back': async (page) => await page.goBack(),
}

const asides = [
  ...Object.values(DASHBOARD_LISTS).flatMap(({ page, opens }) => (opens === 'aside' ? [page] : [])),
  '/system/chains',
]

async function open(path: string, width: number): Promise<Page> {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState, width, height: 900 })
  await page.goto(`${dev.adminUrl}${dashboardPath(path, seed.workspaceId, 'test')}`)
  await settled(page)
  await page.locator('main [data-row-id]').first().waitFor()
  return page
}

const focusedRow = async (page: Page) =>
  await page.evaluate<string | null>(`document.activeElement?.closest('[data-row-id]')?.dataset.rowId ?? null`)

// Guarantee: whatever opens beside a list, Enter leads into it, and every way out of it leads back to its row.
describe.each(sampleOf(asides, 2))('%s', (path) => {
  test.each(sampleOf([390, 1280], 1))(
    'Enter opens a row, and its end returns the focus to it, at %i pixels',
    async (width) => {
      const page = await open(path, width)
      const id = await page.locator('main [data-row-id]').first().getAttribute('data-row-id')
      const inAside = () => page.evaluate(`document.activeElement?.closest('${ASIDE}') !== null`)
      for (const [name, end] of Object.entries(ENDS)) {
        // Again from the row on which the last end left the focus.
        if ((await focusedRow(page)) === null) await page.keyboard.press('j')
        expect([name, await focusedRow(page)]).toEqual([name, id])
        await page.keyboard.press('Enter')
        await page.locator(`${ASIDE} h2`).waitFor()
        await expect.poll(async () => [name, await inAside()]).toEqual([name, true])
        await end(page)
        await page.locator(ASIDE).waitFor({ state: 'detached' })
        await expect.poll(async () => [name, await focusedRow(page)]).toEqual([name, id])
      }
    },
  )
})
