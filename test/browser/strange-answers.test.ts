import { expect, test } from 'vitest'
import { ANYBODY, useBrowser } from '#test/support/browser.ts'
import { invoiceViews, LINK_VIEWS, REFUND_VIEWS, SHOWN_ID, SHOWN_TOKEN } from '#test/support/checkout-views.ts'
import { sampleOf } from '#test/support/depth.ts'
import { sharedInstallation } from '#test/support/shared-installation.ts'

const browser = useBrowser()
const dev = sharedInstallation()
const JSON_TYPE = 'application/json'

/** The pages of payers: the path, the answer of our server, and a text that is only there once it has come. */
const PAGES = {
  invoice: [`/i/${SHOWN_ID}`, () => ({ now: Date.now(), view: invoiceViews(Date.now())['pay'] }), '148.59'],
  receipt: [`/i/${SHOWN_ID}/receipt`, () => ({ now: Date.now(), view: invoiceViews(Date.now())['paid'] }), '148.59'],
  link: [`/l/${SHOWN_ID}`, () => ({ link: LINK_VIEWS['link-custom'] }), 'Minimum'],
  refund: [`/r/${SHOWN_TOKEN}`, () => ({ refund: REFUND_VIEWS['refund-requested'] }), 'Submit'],
} as const

/** Bodies with status 200 of whatever stands between a payer and our server. */
const STRANGE: readonly string[] = [
  '{}',
  '[]',
  'null',
  '"ok"',
  '{"status":"ok"}',
  '<!doctype html><title>Log in</title>',
  '{"view":null,"link":null,"refund":null}',
  '{"view":{},"link":{},"refund":{},"now":1}',
  '{"view":"","link":7,"refund":[]}',
]

const CASES = Object.keys(PAGES).flatMap((name) => STRANGE.map((body) => [name as keyof typeof PAGES, body] as const))

// Guarantee: whatever answers in place of our server, the page says that it could not be loaded and that nothing was charged; it is never blank,
// and shows what there is as soon as our server answers.
test.each(sampleOf(CASES, 6))('the page of an %s that is answered with %s is never blank', async (name, body) => {
  const [path, answer] = PAGES[name]
  const page = await browser.open({ session: ANYBODY, width: 390, expected: /.*/ })
  let isStrange = true
  await page.route('**/api/**', async (route) => {
    if (route.request().url().endsWith('/live')) return await route.fulfill({ status: 429, body: '' })
    await (isStrange ? route.fulfill({ contentType: JSON_TYPE, body }) : route.fulfill({ json: answer() }))
  })
  await page.goto(dev.checkoutUrl + path)
  await page.getByRole('heading', { name: 'We could not load this page' }).waitFor()
  expect(await page.locator('main').textContent()).toContain('Nothing was charged')
  isStrange = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'We could not load this page' }).waitFor({ state: 'hidden' })
  await page.getByText(PAGES[name][2]).first().waitFor({ state: 'attached' })
})
