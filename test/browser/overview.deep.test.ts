import { expect, test } from 'vitest'
import { createPaymesh } from '#clients/typescript/src/main.ts'
import { axeViolations, rulesOf, showTheme } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { logIn } from '#test/support/log-in.ts'
import { sharedInstallation } from '#test/support/shared-installation.ts'

const browser = useBrowser()

test('the overview draws what was received by day, and shows the same numbers as a sentence and a table', async () => {
  const dev = sharedInstallation()
  const shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const { id } = await shop.invoices.create({ amount: '25.00', currency: 'USD', asset: 'usdt_ethereum' })
  await shop.invoices.simulate(id, 'paid')
  await expect.poll(async () => (await shop.invoices.get(id)).status).toBe('paid')

  const page = await browser.open({ width: 1100 })
  await logIn(page, dev, dashboardPath('overview', dev.workspaceId, 'test'))
  const card = page.locator('.pm-card', { has: page.getByRole('heading', { name: /^Received by day/ }) })
  await card.getByRole('img', { name: /received\. Best day:/ }).waitFor()
  const bars = card.locator('svg rect[data-part]')
  await expect.poll(() => bars.count()).toBeGreaterThan(0)
  const flat = async () =>
    await bars.evaluateAll((parts) =>
      parts
        .map((part) => part.getBoundingClientRect())
        .map(({ width, height }) => ({ width, height }))
        .filter(({ width, height }) => width <= 5 || height <= 0),
    )
  await expect.poll(flat).toEqual([])

  await card.getByRole('button', { name: 'Show as table' }).click()
  const totals = card.getByRole('table').locator('tbody tr td:last-child')
  await totals.first().waitFor()
  const columns = async () =>
    await bars.evaluateAll((parts) => new Set(parts.map((part) => part.getAttribute('x'))).size)
  const paidDays = async () => (await totals.allTextContents()).filter((total) => /[1-9]/.test(total)).length
  // One stack for each day on which something was received; another file may pay something between two readings.
  await expect.poll(async () => (await columns()) - (await paidDays())).toBe(0)
  expect(await columns()).toBeGreaterThan(0)
  for (const colorScheme of ['light', 'dark'] as const) {
    await showTheme(page, colorScheme)
    expect({ colorScheme, found: await axeViolations(page, rulesOf(colorScheme)) }).toEqual({ colorScheme, found: [] })
  }

  await page.setViewportSize({ width: 375, height: 760 })
  const drawing = card.locator('svg.pm-bars')
  await expect.poll(async () => (await drawing.boundingBox())?.width ?? 999).toBeLessThan(375)
})
