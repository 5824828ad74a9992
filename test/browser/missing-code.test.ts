import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { deepTest } from '#test/support/depth.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'

/** React and Vite report the file that is gone; these tests remove it on purpose. */
const GONE = /dynamically imported module|preload|error boundary|ErrorBoundary|above error|Boundary/

const browser = useBrowser()
let dev: DevInfo
beforeAll(async () => {
  dev = await ownWorkspace()
})

/** An upgrade replaced the files whose names match: the new server answers 404 for them until `mend`. */
async function upgrade(page: Page, files: RegExp): Promise<{ mend(): Promise<void>; refused(): number }> {
  let refused = 0
  await page.route(files, async (route) => {
    refused += 1
    await route.fulfill({ status: 404, body: '' })
  })
  return { mend: () => page.unroute(files), refused: () => refused }
}

async function openPage(path: string): Promise<Page> {
  const page = await browser.open({ expected: GONE })
  await logIn(page, dev, dashboardPath(path, dev.workspaceId, 'test'))
  await settled(page)
  return page
}

// Guarantee: a page that is open during an upgrade never becomes a blank page.
test('a page whose code is gone says so inside its frame, and works after a reload', async () => {
  const page = await openPage('overview')
  const server = await upgrade(page, /\/assets\/products-page-/)
  await page.getByRole('link', { name: 'Products' }).click()
  await page.getByRole('heading', { name: 'Something went wrong on this page' }).waitFor()
  expect(server.refused()).toBeGreaterThan(0)
  expect(await page.getByText('Paymesh may have just been updated.').count()).toBeGreaterThan(0)
  // Other pages, whose code is there, still open.
  await page.getByRole('link', { name: 'Payment links' }).click()
  await page.getByRole('heading', { name: 'Payment links' }).waitFor()
  await page.getByRole('link', { name: 'Products' }).click()
  await page.getByRole('heading', { name: 'Something went wrong on this page' }).waitFor()
  await server.mend()
  await page.getByRole('main').getByRole('button', { name: 'Reload' }).click()
  await page.getByRole('heading', { name: 'Products', exact: true }).waitFor()
})

deepTest('a frame whose code is gone shows a sentence and a button, not a blank page', async () => {
  const page = await browser.open({ expected: GONE })
  await logIn(page, dev, '/account')
  await settled(page)
  const server = await upgrade(page, /\/assets\/frame-/)
  await page.reload()
  await page.getByRole('heading', { name: 'Something went wrong on this page' }).waitFor()
  await server.mend()
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByRole('heading', { name: 'Account security' }).waitFor()
})

test('a dialog whose code is gone leaves what was typed and offers to reload', async () => {
  const page = await openPage('invoices')
  const search = page.locator('[data-page-search]')
  await search.fill('order-1')
  await upgrade(page, /\/assets\/(search|keys-dialog)-/)
  await page.getByRole('button', { name: /^Search invoices, orders/ }).click()
  const note = page.getByRole('alert').filter({ hasText: 'A part of this page could not be loaded.' })
  await note.getByRole('button', { name: 'Reload' }).waitFor()
  expect(await search.inputValue()).toBe('order-1')
})
