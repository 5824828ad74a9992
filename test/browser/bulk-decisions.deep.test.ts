import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { createPaymesh, type Paymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { axeViolations, rulesOf, settled, showTheme } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { exceptionalInvoice } from '#test/support/exceptional-invoice.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'

const browser = useBrowser()
let dev: DevInfo
let shop: Paymesh
let session: NonNullable<Parameters<typeof browser.open>[0]>['storageState']
beforeAll(async () => {
  dev = await ownWorkspace()
  shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const page = await browser.open()
  await logIn(page, dev)
  session = await page.context().storageState()
})

async function open(): Promise<Page> {
  const page = await browser.open({ ...(session !== undefined && { storageState: session }) })
  await page.goto(`${dev.adminUrl}${dashboardPath('exceptions', dev.workspaceId, 'test')}`)
  await settled(page)
  return page
}

/** Records every text that the page's own live region says from now on. */
async function listen(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.evaluate(`(() => {
    const region = document.querySelector('[role="status"][aria-live="polite"].unseen')
    window.said = []
    new MutationObserver(() => window.said.push(region.textContent.trim())).observe(region, { childList: true, characterData: true, subtree: true })
  })()`)
  return async () => await page.evaluate<readonly string[]>('window.said')
}

// Guarantee: what was previewed is what is done; what another person decided meanwhile is reported and stays as they decided it.
test('several shortfalls are previewed, confirmed once, and the result says what was done and what was not', {
  timeout: 300_000,
}, async () => {
  const one = await exceptionalInvoice(shop, 'partial')
  const two = await exceptionalInvoice(shop, 'partial')
  const taken = await exceptionalInvoice(shop, 'partial')
  const over = await exceptionalInvoice(shop, 'overpaid')
  const page = await open()
  const all = [one, two, taken, over]
  for (const { number } of all) await page.getByRole('checkbox', { name: `on #${number}` }).check({ timeout: 60_000 })
  await page.getByRole('button', { name: 'Decide 4 selected …' }).click()
  const dialog = page.getByRole('dialog', { name: 'Decide 4 exceptions' })
  await dialog.getByRole('radio', { name: 'Accept as paid: 3 of 4' }).waitFor()
  expect(await dialog.getByRole('radio', { name: 'Reject: 3 of 4' }).isEnabled()).toBe(true)
  expect(await dialog.getByRole('radio', { name: 'Mark as resolved: 1 of 4' }).isEnabled()).toBe(true)
  expect(await dialog.getByRole('list', { name: 'Sums per coin' }).textContent()).toMatch(
    /^[\d.]+ USDT on Ethereum in 3 exceptions$/,
  )
  expect(await dialog.getByRole('list', { name: 'Not decided' }).textContent()).toMatch(
    new RegExp(`on #${over.number}: There is nothing to accept here`),
  )
  for (const theme of ['light', 'dark'] as const) {
    await showTheme(page, theme)
    expect([theme, await axeViolations(page, rulesOf(theme))]).toEqual([theme, []])
  }
  const confirm = dialog.getByRole('button', { name: 'Accept 3 as paid' })
  expect(await confirm.isDisabled()).toBe(true)
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('They are regular customers.')

  // Somebody else rejects one of them between the preview and the confirmation.
  await page.route('**/trpc/exceptions.decideMany*', async (route) => {
    const { ids } = route.request().postDataJSON() as { readonly ids: readonly string[] }
    const id = ids.find((each) => each.includes(taken.id))
    const body = { workspaceId: dev.workspaceId, mode: 'test', opId: crypto.randomUUID(), id, reason: 'Sent back.' }
    const rejected = await page.request.post(`${dev.adminUrl}/trpc/exceptions.reject`, {
      ...{ data: body, headers: { origin: new URL(dev.adminUrl ?? page.url()).origin } },
    })
    expect(rejected.status()).toBe(200)
    await route.continue()
  })
  const said = await listen(page)
  await confirm.click()
  const result = page.getByRole('dialog', { name: 'Result' })
  await result.getByText('2 accepted, 2 not.').waitFor()
  const undecided = (await result.getByRole('list', { name: 'Not decided' }).textContent()) ?? ''
  expect(undecided).toMatch(new RegExp(`on #${taken.number}: ${dev.ownerEmail ?? ''} rejected this at`))
  expect(undecided).toContain(`on #${over.number}: There is nothing to accept here`)
  expect(await axeViolations(page)).toEqual([])
  await result.getByRole('button', { name: 'Close' }).last().click()
  await expect.poll(async () => (await shop.invoices.get(one.id)).status).toBe('paid')
  await expect.poll(async () => (await shop.invoices.get(two.id)).status).toBe('paid')
  expect((await shop.invoices.get(taken.id)).status).toBe('expired')

  // The rows that are left stay selected; the list became shorter, and the live region said only what was done.
  await page.getByRole('checkbox', { name: `on #${one.number}` }).waitFor({ state: 'detached' })
  expect(await page.getByRole('checkbox', { name: `on #${over.number}` }).isChecked()).toBe(true)
  expect(await said()).toEqual(['2 accepted, 1 not.'])
})
