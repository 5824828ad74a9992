import { beforeAll, expect, test } from 'vitest'
import { createPaymesh, type Invoice } from '#clients/typescript/src/main.ts'
import { settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { DASHBOARD_LISTS } from '#test/support/dashboard-lists.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { sampleOf } from '#test/support/depth.ts'
import { shownRows } from '#test/support/shown-rows.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

const browser = useBrowser()
const opened = useListSeed(browser)
const STATES = ['new', 'pending', 'partial', 'paid', 'overpaid', 'expired', 'cancelled', 'paid in ether'] as const
let invoices: Readonly<Record<string, Invoice>>

beforeAll(async () => {
  const { dev, seed } = opened()
  const shop = createPaymesh({ apiKey: seed.apiKey, baseUrl: dev.apiUrl })
  const read = Object.entries(seed.invoices).map(async ([state, id]) => [state, await shop.invoices.get(id)] as const)
  invoices = Object.fromEntries(await Promise.all(read))
})

/** `1250.50` as pages group it. */
const grouped = (value: string) => value.replace(/\B(?=(\d{3})+(?!\d)(?=.*\.))/g, ',')

const open = async (path: string) => {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState })
  await page.goto(`${dev.adminUrl}${dashboardPath(path, seed.workspaceId, 'test')}`)
  await settled(page)
  return page
}

// Guarantee: an operator and the merchant's program read the same amounts, whatever the state.
test('the list shows the amounts of the API in every state', async () => {
  const page = await open('invoices')
  const list = DASHBOARD_LISTS['invoices']
  if (list === undefined) throw new Error('the list of invoices is not declared')
  const rows = (await shownRows(page, list)) ?? []
  for (const state of STATES) {
    const { id, amount, crypto, received } = invoices[state] as Invoice
    const row = rows.find((one) => one.id === id)
    expect([state, row?.cells['Amount']?.replaceAll('\u00a0', ' ')]).toEqual([
      state,
      `${grouped(amount.value)} ${amount.currency}`,
    ])
    const coins = row?.cells['Received']?.split('\n')[0]
    if (crypto === null) expect([state, coins]).toEqual([state, '–'])
    else {
      const whole = received.amount === crypto.amount ? crypto.amount : `${received.amount} of ${crypto.amount}`
      expect([state, coins]).toEqual([state, `${whole} ${crypto.symbol}`])
    }
  }
})

test.each(sampleOf(STATES, 4))('the page of an invoice that is %s shows the amounts of the API', async (state) => {
  const { id, amount, crypto, received } = invoices[state] as Invoice
  const page = await open(`invoices/${id}`)
  await page
    .locator('.pm-page-head')
    .getByText(`${grouped(amount.value)} ${amount.currency}`)
    .waitFor()
  const sums = await page.locator('.pm-sums dd').allTextContents()
  if (crypto === null) return expect(sums).toEqual([])
  const [due, seen] = sums
  expect(due).toBe(`${crypto.amount} ${crypto.symbol}`)
  expect(seen).toBe(`${received.amount} ${crypto.symbol}`)
})

// Guarantee: what an operator confirms without reading gives back the difference and not the whole payment.
test('a refund of an overpaid invoice proposes what came above the amount due', async () => {
  const { id, crypto, received } = invoices['overpaid'] as Invoice
  const page = await open(`invoices/${id}`)
  await page.getByRole('button', { name: 'Refund …' }).click()
  const form = page.getByRole('dialog')
  const base = BigInt(received.amount_base_units) - BigInt(crypto?.amount_base_units ?? 0)
  expect(base).toBeGreaterThan(0n)
  const units = Number(base) / 1_000_000
  await form.getByText(/Suggested: the amount above the price/).waitFor()
  const amount = form.getByRole('textbox', { name: /^Amount in/ })
  await expect.poll(async () => Number(await amount.inputValue())).toBe(units)
})

test('a refund of a paid invoice proposes all of it', async () => {
  const { id, received } = invoices['paid'] as Invoice
  const page = await open(`invoices/${id}`)
  await page.getByRole('button', { name: 'Refund …' }).click()
  expect(
    await page
      .getByRole('dialog')
      .getByRole('textbox', { name: /^Amount in/ })
      .inputValue(),
  ).toBe(received.amount)
})
