import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { deepTest } from '#test/support/depth.ts'
import { useWorld } from '#test/support/use-world.ts'

const world = useWorld()
const browser = useBrowser()
const PAID_MS = 60_000

/** A mark that a reload would wipe away. */
const mark = (page: Page) => page.evaluate('window.neverReloaded = true')
const isMarked = (page: Page) => page.evaluate('window.neverReloaded === true')
const paid = (page: Page) => page.getByRole('heading', { name: 'Paid. Thank you.' }).waitFor({ timeout: PAID_MS })

/** Chooses USDT on Ethereum and gives what the page then says to send. */
async function choose(page: Page): Promise<{ readonly address: string; readonly amount: string }> {
  await page
    .getByRole('radio', { name: /Ethereum/ })
    .first()
    .check()
  await page.getByRole('button', { name: 'Continue with USDT on Ethereum' }).click()
  await page.getByRole('heading', { name: /^Send .* USDT on Ethereum$/ }).waitFor()
  const address = await page.locator('.address').evaluate((element) => element.textContent)
  const amount = await page.locator('.value').nth(1).textContent()
  return { address, amount: amount?.split(/\s/)[0] ?? '' }
}

/** Guarantee: a payer who does what the page says has paid, and the page says so by itself. */
test('an invoice is paid from its page, which turns to paid without a reload', async () => {
  const { merchant, getInvoice, pay } = world()
  const created = await merchant.invoices.create({ amount: '25.00', currency: 'USD', description: 'Tea' })
  const page = await browser.open()
  await page.goto(created.urls.checkout)
  await settled(page)
  await mark(page)
  await expect.poll(async () => await page.title()).toBe('[TEST] Choose a coin · Flow')
  await expect.poll(async () => await page.locator('.test-band').textContent()).toContain('TEST MODE')
  const shown = await choose(page)
  const invoice = await getInvoice(created.id)
  expect(shown.address).toBe(invoice.crypto?.address)
  expect(Number(shown.amount)).toBe(Number(invoice.crypto?.amount))
  // A rehearsal is the whole way: the link names the test chain.
  await expect.poll(async () => await page.locator('a[href^="ethereum:"]').getAttribute('href')).toContain('@31337')

  const txHash = await pay(invoice)
  await paid(page)
  expect(await isMarked(page)).toBe(true)
  await expect.poll(async () => await page.title()).toBe('[TEST] Paid · Flow')
  await expect.poll(async () => await page.getByRole('status').textContent()).toBe('Paid. Receipt available.')

  await page.getByRole('link', { name: 'View receipt' }).click()
  await page.getByRole('heading', { name: 'Receipt' }).waitFor()
  await expect.poll(async () => await page.locator('.paper').textContent()).toContain(txHash)
  const paint = await page.evaluate<number>(
    `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1`,
  )
  process.stderr.write(`first paint of the receipt after ${Math.round(paint)} ms\n`)
})

/** Guarantee: a phone that slept while the money moved shows the truth when it wakes up. */
test('a page that was frozen and cut off turns to paid when it is back', async () => {
  const { createInvoice, getInvoice, pay, waitForEvent } = world()
  const created = await createInvoice()
  const page = await browser.open()
  await page.goto(created.urls.checkout)
  await page.getByRole('heading', { name: /^Send/ }).waitFor()
  await mark(page)
  const session = await page.context().newCDPSession(page)
  await page.context().setOffline(true)
  await session.send('Page.setWebLifecycleState', { state: 'frozen' })
  await pay(await getInvoice(created.id))
  await waitForEvent(created.id, 'invoice.paid', PAID_MS)
  await page.context().setOffline(false)
  await session.send('Page.setWebLifecycleState', { state: 'active' })
  await paid(page)
  expect(await isMarked(page)).toBe(true)
})

test('a page whose live line is refused asks by itself', async () => {
  const { createInvoice, getInvoice, pay } = world()
  const created = await createInvoice()
  const page = await browser.open()
  await page.route('**/live', (route) => route.fulfill({ status: 429, headers: { 'Retry-After': '30' }, body: '' }))
  await page.goto(created.urls.checkout)
  await page.getByRole('heading', { name: /^Send/ }).waitFor()
  await pay(await getInvoice(created.id))
  await paid(page)
})

deepTest('a payment that is too small asks for the rest at the same address', async () => {
  const { createInvoice, getInvoice, pay } = world()
  const created = await createInvoice()
  const page = await browser.open()
  await page.goto(created.urls.checkout)
  await page.getByRole('heading', { name: /^Send/ }).waitFor()
  const invoice = await getInvoice(created.id)
  await pay(invoice, BigInt(invoice.crypto?.amount_base_units ?? 0) - 1_000_000n)
  await page.getByRole('heading', { name: '1.00 USDT left to pay' }).waitFor({ timeout: PAID_MS })
  expect(await page.locator('.address').evaluate((element) => element.textContent)).toBe(invoice.crypto?.address)
  await pay(invoice, 1_000_000n)
  await paid(page)
})

/** Guarantee: opening a link costs nobody anything; one payer's clicks make one invoice. */
test('a payment link takes an amount of the payer’s choice', async () => {
  const { merchant, getInvoice, pay } = world()
  const link = await merchant.paymentLinks.create({
    title: 'Workshop',
    currency: 'USD',
    allow_custom_amount: true,
    min_amount: '5.00',
    max_amount: '1000.00',
  })
  const page = await browser.open()
  await page.goto(link.url)
  await page.getByRole('heading', { name: 'Workshop' }).waitFor()
  const field = page.getByLabel('Amount', { exact: true })
  await field.fill('1.250')
  await expect
    .poll(async () => await page.locator('#amount-echo').textContent())
    .toContain('Enter it without separators, like 1250.50')
  await page.getByRole('button', { name: 'Continue' }).click()
  await field.fill('4')
  await expect
    .poll(async () => await page.locator('#amount-echo').textContent())
    .toContain('Between 5.00 USD and 1,000.00 USD.')
  expect((await merchant.paymentLinks.get(link.id)).uses).toBe(0)
  await field.fill('12,5')
  await expect.poll(async () => await page.locator('#amount-echo').textContent()).toContain('You will pay 12.50 USD')
  await page.getByRole('button', { name: 'Continue with 12.50 USD' }).dblclick()
  await page.getByRole('heading', { name: 'Choose a coin' }).waitFor()
  const first = page.url()
  await page.goBack()
  await page.getByLabel('Amount', { exact: true }).fill('12.50')
  await page.getByRole('button', { name: 'Continue with 12.50 USD' }).click()
  await page.getByRole('heading', { name: 'Choose a coin' }).waitFor()
  expect(page.url()).toBe(first)
  expect((await merchant.paymentLinks.get(link.id)).uses).toBe(1)

  await choose(page)
  const id = new URL(page.url()).pathname.split('/')[2] ?? ''
  const invoice = await getInvoice(id)
  expect(invoice).toMatchObject({ source: 'link', payment_link_id: link.id, amount: { value: '12.50' } })
  await pay(invoice)
  await paid(page)
})

deepTest('"I paid but nothing happened" is answered honestly', async () => {
  const { createInvoice, getInvoice, pay, waitForEvent } = world()
  const created = await createInvoice()
  const other = await createInvoice()
  const page = await browser.open()
  await page.goto(created.urls.checkout)
  await page.getByText('I paid but nothing happened').click()
  const request = async (hash: string, answer: string | RegExp) => {
    await page.getByLabel('Transaction ID').fill(hash)
    await page.getByRole('button', { name: 'Look it up' }).click()
    await page.locator('#hash-result').filter({ hasText: answer }).waitFor()
  }
  await request('what is this, please tell me who you are', 'That doesn’t look like a transaction ID.')
  await request(`0x${'ab'.repeat(32)}`, 'We can’t find it yet.')
  const foreign = await pay(await getInvoice(other.id))
  await waitForEvent(other.id, 'invoice.paid', PAID_MS)
  await request(foreign, 'not to this invoice’s')
})

test('what does not exist says so in the reader’s language', async () => {
  const page = await browser.open({ locale: 'pt-BR' })
  const response = await page.goto(`${world().dev.checkoutUrl}/i/01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e41`)
  // A document reads nothing: only its script can find out.
  expect(response?.status()).toBe(200)
  await page.getByRole('heading', { name: 'Página não encontrada' }).waitFor()
})
