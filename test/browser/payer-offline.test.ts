import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import {
  ASSET_OPTIONS,
  invoiceViews,
  LINK_VIEWS,
  REFUND_VIEWS,
  SHOWN_ID,
  SHOWN_TOKEN,
} from '#test/support/checkout-views.ts'
import { sampleOf } from '#test/support/depth.ts'
import { sharedInstallation } from '#test/support/shared-installation.ts'

const browser = useBrowser()
const dev = sharedInstallation()
const ADDRESS = 'TSWqa1StkkGB8idDYxQd9jGZWXQfahxbG3'
const HASH = 'ab'.repeat(32)

/** A form of a payer: how it is filled and sent, what the server is sent, and what the form still holds without an answer. */
interface Form {
  readonly path: string
  readonly answer: () => unknown
  readonly fill: (page: Page) => Promise<void>
  readonly send: (page: Page) => Promise<void>
  readonly body: Readonly<Record<string, unknown>>
  readonly kept: (page: Page) => Promise<string>
}

const view = (name: 'pick' | 'pay') => ({ now: Date.now(), view: invoiceViews(Date.now())[name] })
const press = (name: string | RegExp) => async (page: Page) => await page.getByRole('button', { name }).click()

const FORMS: Readonly<Record<string, Form>> = {
  'a transaction ID': {
    path: `/i/${SHOWN_ID}`,
    answer: () => view('pay'),
    fill: async (page) => {
      await page.getByText('I paid but nothing happened').click()
      await page.getByLabel('Transaction ID').fill(`  ${HASH} `)
    },
    send: press('Look it up'),
    body: { txHash: HASH },
    kept: async (page) => (await page.getByLabel('Transaction ID').inputValue()).trim(),
  },
  'an amount': {
    path: `/l/${SHOWN_ID}`,
    answer: () => ({ link: LINK_VIEWS['link-custom'] }),
    fill: async (page) => await page.getByLabel('Amount', { exact: true }).fill(' 250,5 '),
    send: press(/^Continue/),
    body: { amount: '250.50' },
    kept: async (page) => (await page.getByLabel('Amount', { exact: true }).inputValue()).trim(),
  },
  'a refund address': {
    path: `/r/${SHOWN_TOKEN}`,
    answer: () => ({ refund: REFUND_VIEWS['refund-requested'] }),
    fill: async (page) => await page.getByLabel('Your USDT address on TRON').fill(` ${ADDRESS}  `),
    send: async (page) => {
      await press('Continue')(page)
      await press('Submit address')(page)
    },
    body: { address: ADDRESS },
    kept: async (page) => (await page.getByLabel('Your USDT address on TRON').inputValue()).trim(),
  },
  'a coin': {
    path: `/i/${SHOWN_ID}`,
    answer: () => view('pick'),
    fill: async (page) => await page.getByRole('radio', { name: /TRON/ }).first().check(),
    send: press(/^Continue with/),
    body: { asset: 'usdt_tron' },
    kept: async (page) => String(await page.getByRole('radio', { name: /TRON/ }).first().isChecked()),
  },
}

// Guarantee: a connection that is lost while a payer sends a form costs one more press of the button: what they entered stays, the
// sentence says what to do, and the second request is the first one again.
test.each(sampleOf(Object.entries(FORMS), 1))(
  '%s that was sent without a connection is kept, and sent once more',
  async (_name, form) => {
    const page = await browser.open({ width: 390, height: 844, expected: /ERR_INTERNET_DISCONNECTED/ })
    const sent: unknown[] = []
    let isLost = true
    await page.route('**/api/**', async (route: Route) => {
      const request = route.request()
      const { pathname } = new URL(request.url())
      if (pathname.endsWith('/live')) return await route.fulfill({ status: 429, body: '' })
      if (pathname.endsWith('/assets'))
        return await route.fulfill({ json: { assets: ASSET_OPTIONS, holdMs: 1_200_000 } })
      if (request.method() === 'GET') return await route.fulfill({ json: form.answer() })
      sent.push(request.postDataJSON())
      if (isLost) return await route.abort('internetdisconnected')
      await route.fulfill({ status: 400, json: { error: { code: 'VALIDATION_ERROR', details: [] } } })
    })
    await page.goto(`${dev.checkoutUrl}${form.path}`)
    await settled(page)
    await form.fill(page)
    const entered = await form.kept(page)
    await form.send(page)
    const sentence = page.getByText('No response. Check your connection and try again. Nothing you entered is lost.')
    await sentence.first().waitFor()
    expect(await form.kept(page)).toBe(entered)
    expect(await axeViolations(page)).toEqual([])
    isLost = false
    await form.send(page)
    await sentence.first().waitFor({ state: 'hidden' })
    await expect.poll(() => sent.length).toBe(2)
    expect(sent[0]).toMatchObject(form.body)
    expect(sent[1]).toEqual(sent[0])
  },
)
