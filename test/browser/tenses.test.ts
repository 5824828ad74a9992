import { expect, test } from 'vitest'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

const browser = useBrowser()
const opened = useListSeed(browser)
const MINUTE_MS = 60_000
/** A moment to come that a page names, in its answers. */
const TO_COME = /"(expiresAt|dueAt|oldestDueAt)":\d+/g

/** Opens a page to whose reader a moment comes in five minutes, and returns what lets them pass there without an answer of the server. */
async function openBefore(path: string) {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState, width: 1280, height: 900 })
  await page.clock.install()
  const at = Date.now() + 5 * MINUTE_MS
  let isSilent = false
  await page.route(/\/trpc\/(?!live\.)/, async (route) => {
    if (isSilent) return
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replace(TO_COME, `"$1":${at}`) })
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
