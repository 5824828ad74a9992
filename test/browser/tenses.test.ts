import { expect, test } from 'vitest'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

const browser = useBrowser()
const opened = useListSeed(browser)
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** A moment to come that a page names, in its answers. */
const TO_COME = /"(expiresAt|dueAt|oldestDueAt)":\d+/g

/**
 * Opens a page to whose server a moment comes in five minutes, or `inMs`, and returns what lets them pass there without an answer of the
 * server. The reader's clock is `wrongBy` ahead of the server's; answers do not name the time where it is not.
 */
async function openBefore(path: string, { inMs = 5 * MINUTE_MS, wrongBy = 0 } = {}) {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState, width: 1280, height: 900 })
  await page.clock.install({ time: Date.now() + wrongBy })
  const at = Date.now() + inMs
  let isSilent = false
  await page.route(/\/trpc\/(?!live\.)/, async (route) => {
    if (isSilent) return
    const response = await route.fetch()
    const headers = { ...response.headers(), ...(wrongBy === 0 && { date: '' }) }
    await route.fulfill({ response, headers, body: (await response.text()).replace(TO_COME, `"$1":${at}`) })
  })
  await page.goto(`${dev.adminUrl}${dashboardPath(path, seed.workspaceId, 'test')}`)
  const main = page.locator('main')
  const pass = async () => {
    isSilent = true
    await page.clock.runFor(5 * MINUTE_MS + 3_000)
  }
  return { main, pass }
}

// Guarantee: what is to come is past from its moment on, whether or not the page has read anything since: no time left ever grows.
test('an invoice that runs out while it is looked at says that its time is over', async () => {
  const { main, pass } = await openBefore(`invoices/${opened().seed.invoices['pending']}`)
  await main.getByText(/^Expires in [45] min/).waitFor()
  await main.getByText('Expires', { exact: true }).waitFor()
  await pass()
  await main.getByText('Time to pay ended', { exact: true }).waitFor()
  await expect.poll(() => main.getByText(/^Expires/).count()).toBe(0)
})

test('a delivery whose next attempt comes while its list is looked at is due', async () => {
  const { main, pass } = await openBefore('webhooks/deliveries?status=pending')
  await main
    .getByText(/^next attempt in [45] min/)
    .first()
    .waitFor()
  await pass()
  await main.getByText('due now').first().waitFor()
  await expect.poll(() => main.getByText(/^next attempt in/).count()).toBe(0)
})

// Guarantee: pages count by the server's clock: what is to come or past does not depend on how the operator's computer is set.
test.each([
  ['ahead', 5 * HOUR_MS, 5 * MINUTE_MS, /^Expires in [45] min/],
  ['behind', -5 * HOUR_MS, -5 * MINUTE_MS, /^Time to pay ended$/],
] as const)('a computer whose clock is five hours %s shows what is so', async (_how, wrongBy, inMs, text) => {
  const { main } = await openBefore(`invoices/${opened().seed.invoices['pending']}`, { wrongBy, inMs })
  await main.getByText(text).waitFor()
})
