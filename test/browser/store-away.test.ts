import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { qrPicture } from '#services/checkout/plain/qr-picture.ts'
import { axeViolations, rulesOf, sidewaysPixels } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { paymentMethodOf } from '#test/support/engine.ts'
import { openRefund } from '#test/support/open-refund.ts'
import { useSuspendableCheckout } from '#test/support/suspendable-checkout.ts'

const browser = useBrowser()
const checkout = useSuspendableCheckout()
const LOST = 'We lost the connection. Your payment is safe. This page updates as soon as the connection is back.'

/** The pages of payers, by name: what each shows once its data is there. */
const shown = {
  invoice: (page: Page) => page.getByRole('heading', { name: /^Send .* USDT on Ethereum$/ }),
  receipt: (page: Page) => page.getByRole('heading', { name: 'Receipt' }),
  link: (page: Page) => page.getByRole('heading', { name: 'Workshop' }),
  refund: (page: Page) => page.getByRole('heading', { name: 'Where should your refund go?' }),
}
const NAMES = Object.keys(shown) as (keyof typeof shown)[]

/** One of each, and the documents behind them. */
async function records() {
  const { engine, link, stores } = checkout()
  const invoice = (await engine.open({ asset: 'usdt_ethereum' })).terms.id
  const made = { invoice, link: await link({ kind: 'fixed', minor: 700n }), refund: await openRefund(stores, engine) }
  const paths = {
    invoice: `/i/${invoice}`,
    receipt: `/i/${invoice}/receipt`,
    link: `/l/${made.link}`,
    refund: `/r/${made.refund.token}`,
  }
  return { made, paths }
}

async function open(name: keyof typeof shown, path: string) {
  const page = await browser.open({ width: 390, height: 844, isAway: true })
  const document = await page.goto(checkout().url + path, { waitUntil: 'commit' })
  expect([name, document?.status(), document?.headers()['content-type']]).toEqual([
    ...[name, 200, 'text/html; charset=utf-8'],
  ])
  return page
}

// Guarantee: a store that hangs under a payer never costs the page. What is open says within ten seconds that it is older, what is opened says
// what happened, and both continue as soon as the store is back, without a reload.
test('a suspended store is said on every page, and every page continues when it is back', async () => {
  const { suspend, resume } = checkout()
  const { paths } = await records()
  const before = await Promise.all(NAMES.map((name) => open(name, paths[name])))
  await Promise.all(NAMES.map((name, at) => shown[name](before[at] as Page).waitFor()))
  for (const page of before) await page.evaluate('window.neverReloaded = true')
  suspend()
  const during = await Promise.all(NAMES.map((name) => open(name, paths[name])))
  // The first two are watched; nothing on a link is out of date before its button is pressed.
  await Promise.all(before.slice(0, 2).map((page) => page.getByText(LOST).waitFor()))
  await Promise.all(during.map((page) => page.getByRole('heading', { name: 'We could not load this page' }).waitFor()))
  for (const page of during) expect(await page.locator('main').textContent()).toContain('Nothing was charged')
  expect(await axeViolations(during[0] as Page)).toEqual([])
  resume()
  await Promise.all(before.slice(0, 2).map((page) => page.getByText(LOST).waitFor({ state: 'hidden' })))
  await Promise.all(NAMES.map((name, at) => shown[name](during[at] as Page).waitFor()))
  for (const page of before) expect(await page.evaluate('window.neverReloaded')).toBe(true)
})

// Guarantee: what is removed behind an open page is said there: nobody is shown an address that nothing waits for, or told that the
// connection was lost. It comes back when it is there again, as after a restore.
test('an open page says that its invoice, link or refund was removed', async () => {
  const { stores, url } = checkout()
  const { made, paths } = await records()
  const [invoice, receipt, link, refund] = (await Promise.all(NAMES.map((name) => open(name, paths[name])))) as [
    ...[Page, Page, Page, Page],
  ]
  const pages = { invoice, receipt, link, refund }
  await Promise.all(NAMES.map((name) => shown[name](pages[name]).waitFor()))
  await link
    .getByRole('radio', { name: /Ethereum/ })
    .first()
    .check()
  const removed = { invoices: made.invoice, payment_links: made.link, refunds: made.refund.id }
  const putBack = await Promise.all(
    Object.entries(removed).map(async ([name, _id]) => {
      const rows = stores.db.connection.collection<{ _id: string }>(name)
      const document = await rows.findOneAndDelete({ _id })
      if (document === null) throw new Error(`nothing in ${name}`)
      return () => rows.insertOne(document)
    }),
  )
  await invoice.getByRole('heading', { name: 'This invoice no longer exists' }).waitFor()
  await invoice.getByText('It was removed. Don’t send anything.', { exact: true }).waitFor()
  expect(await invoice.locator('main').textContent()).not.toMatch(/0x|lost the connection|Pay before/)
  expect(await invoice.title()).toContain('This invoice no longer exists')
  expect(await axeViolations(invoice)).toEqual([])
  await receipt.getByText('This invoice no longer exists').waitFor()
  await shown.receipt(receipt).waitFor()
  expect(await axeViolations(receipt)).toEqual([])
  const missing = (page: Page) => page.getByRole('heading', { name: 'Page not found' })
  await link.getByRole('button', { name: /^Continue with/ }).click()
  await missing(link).waitFor()
  await refund.getByLabel(/^Your USDT address/).fill('0x8282Ec02E4038c9F6789c1E7c2eCdc172Be26fDE')
  await refund.getByRole('button', { name: 'Continue' }).click()
  await refund.getByRole('button', { name: 'Submit address' }).click()
  await missing(refund).waitFor()
  const scriptless = await browser.open({ width: 390, height: 844, isScriptless: true })
  for (const path of [`${paths.invoice}/plain`, `${paths.receipt}/plain`, `${paths.link}/plain`]) {
    expect((await scriptless.goto(url + path))?.status()).toBe(404)
    await missing(scriptless).waitFor()
  }
  for (const one of putBack) await one()
  for (const page of [invoice, receipt]) await page.evaluate('window.dispatchEvent(new Event("focus"))')
  for (const page of [link, refund]) await page.evaluate('window.dispatchEvent(new Event("online"))')
  await Promise.all(NAMES.map((name) => shown[name](pages[name]).waitFor()))
})

// Guarantee: whoever runs no script can pay all the same: the coin, the network, the amount, the address and its code are on the page, and every
// form goes through the same use cases.
// Guarantee: a payer whose browser lets scripts run, but gets or understands none of ours, is led to the page that needs none.
test('a page whose script does not come leads on, and one whose script comes says nothing of it', async () => {
  const { paths } = await records()
  const page = await browser.open()
  await page.route('**/assets/*.js', (route) => route.fulfill({ status: 404, body: '' }))
  await page.goto(checkout().url + paths.link)
  const lead = page.getByRole('link', { name: /^Continue without JavaScript/ })
  const look = async (of: string) => await page.evaluate(`getComputedStyle(document.querySelector('#root > p')).${of}`)
  // Hidden at first, also for readers who want no motion.
  expect(await look('animationName')).toBe('appear')
  await expect.poll(() => look('opacity'), { timeout: 20_000 }).toBe('1')
  await lead.click()
  await shown.link(page).waitFor()
  expect(new URL(page.url()).pathname).toBe(`${paths.link}/plain`)
  const whole = await browser.open()
  await whole.goto(checkout().url + paths.link)
  await shown.link(whole).waitFor()
  expect(await whole.getByText('Continue without JavaScript').count()).toBe(0)
})

// Guarantee: a customer whose browser runs no script, or gets none, reads what to do about the refund, once, in the language of the browser.
test.each([true, false])('a refund’s page says what it needs (scripts off: %s)', async (isScriptless) => {
  const { paths } = await records()
  const page = await browser.open({ width: 320, height: 640, isScriptless, locale: 'es-MX' })
  await page.route('**/assets/*.js', (route) => route.fulfill({ status: 404, body: '' }))
  await page.goto(checkout().url + paths.refund)
  const says = page.locator('noscript main:visible, #root > p:visible')
  expect(await says.allTextContents()).toEqual([
    expect.stringContaining('Permítelo o abre este enlace en otro navegador'),
  ])
})

test('without scripts a link is paid to its address, and the receipt is read', async () => {
  const { url, link, engine } = checkout()
  const page = await browser.open({ width: 390, height: 844, isScriptless: true })
  page.setDefaultTimeout(15_000)
  // The tools that look are scripts: they see the same document in another window.
  const looksRight = async (address: string) => {
    const other = await browser.open({ width: 390, height: 844 })
    await other.goto(address)
    for (const width of [390, 1280]) {
      await other.setViewportSize({ width, height: 844 })
      for (const colorScheme of ['light', 'dark'] as const) {
        await other.emulateMedia({ colorScheme })
        const found = [await axeViolations(other, rulesOf(colorScheme)), await sidewaysPixels(other)]
        expect([width, colorScheme, ...found]).toEqual([width, colorScheme, [], 0])
      }
    }
  }
  await page.goto(`${url}/l/${await link({ kind: 'custom', minMinor: 500n, maxMinor: 50_000n })}`)
  await page.getByRole('heading', { name: 'Workshop' }).waitFor()
  const go = page.getByRole('button', { name: 'Continue' })
  await page.getByLabel('Amount').fill('1.250')
  await go.click()
  await page.getByText('Enter it without separators, like 1250.50').waitFor()
  await page.getByLabel('Amount').fill('25,00')
  await go.click()
  await page.getByRole('heading', { name: 'Choose a coin' }).waitFor()
  await looksRight(page.url())
  await page.getByRole('radio', { name: /USDT · Ethereum/ }).check()
  await go.click()
  await page.getByRole('heading', { name: /^Send .* USDT on Ethereum$/ }).waitFor()
  const [, id = ''] = /\/i\/([^/]+)\/plain$/.exec(page.url()) ?? []
  const invoice = await engine.deps.invoices.findById(id)
  if (invoice === null) throw new Error('no invoice')
  const { address, due } = { address: paymentMethodOf(invoice).address, due: '25.00' }
  const main = page.locator('main')
  await expect.poll(() => main.textContent()).toContain(address)
  expect(await main.textContent()).toMatch(new RegExp(`${due} USDT`))
  expect(await main.textContent()).toContain('UTC')
  const code = page.getByRole('img', { name: 'QR code of the payment address' })
  expect(await code.getAttribute('src')).toBe(qrPicture(address).src)
  // Chromium decoded it.
  expect((await code.boundingBox())?.width).toBeGreaterThan(200)
  await looksRight(page.url())
  await page.getByRole('link', { name: 'View receipt' }).click()
  await page.getByRole('heading', { name: /^Receipt #/ }).waitFor()
  await page.getByText('Nothing has been received.').waitFor()
  await looksRight(page.url())
})
