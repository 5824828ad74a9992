import type { Page } from 'playwright-core'
import { encode } from 'uqr'
import { describe, expect, test } from 'vitest'
import type { AssetOption, InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { ASSET_OPTIONS, invoiceViews, SHOWN_ID } from '#test/support/checkout-views.ts'
import { sharedInstallation } from '#test/support/shared-installation.ts'

const browser = useBrowser()
const dev = sharedInstallation()

/** The page of an invoice whose server answers what the test says, at a time that the test moves. */
interface Stage {
  readonly page: Page
  /** Bodies of POSTs, oldest first. */
  readonly posted: readonly string[]
  /** From now on the server answers with this view; the page polls for it. */
  answer(view: InvoiceView, withinMs?: number): Promise<void>
  pass(ms: number): Promise<void>
}

const POLL_MS = 10_000
const STEP_MS = 250
const viewOf = (name: string): InvoiceView => {
  const view = invoiceViews(Date.now())[name]
  if (view === undefined) throw new Error(`no view ${name}`)
  return view
}

async function open(first: InvoiceView, assets: readonly AssetOption[] = ASSET_OPTIONS): Promise<Stage> {
  const page = await browser.open()
  const posted: string[] = []
  let view = first
  let movedMs = 0
  await page.clock.install()
  await page.route('**/thanks', (route) => route.fulfill({ body: 'the shop' }))
  await page.route('**/api/**', async (route) => {
    const request = route.request()
    const { pathname } = new URL(request.url())
    if (request.method() === 'POST') posted.push(request.postData() ?? '')
    if (pathname.endsWith('/live')) await route.fulfill({ status: 429, body: '' })
    else if (pathname.endsWith('/assets')) await route.fulfill({ json: { assets, holdMs: 1_200_000 } })
    else await route.fulfill({ json: { now: Date.now() + movedMs, view } })
  })
  await page.goto(`${dev.checkoutUrl}/i/${SHOWN_ID}`)
  await settled(page)
  const pass = async (ms: number) => {
    movedMs += ms
    await page.clock.runFor(ms)
  }
  return {
    page,
    posted,
    pass,
    answer: async (next, withinMs = POLL_MS) => {
      view = { ...next, version: view.version + 1 }
      let isShown = false
      const polled = page
        .waitForResponse((response) => response.url().endsWith(`/api/i/${SHOWN_ID}`))
        .then(() => (isShown = true))
      // It polls each 5 s, at the next of its looks.
      const look = async () => {
        if (!isShown) await pass(withinMs)
        return isShown
      }
      await expect.poll(look, { interval: 200 }).toBe(true)
      await polled
    },
  }
}

// Guarantee: an address is taken by a payer's decision only.
test('the only coin that can be paid is selected, and confirmed by the payer alone', async () => {
  const [option] = ASSET_OPTIONS.filter(({ isAvailable }) => isAvailable)
  if (option === undefined) throw new Error('no coin')
  const { page, posted, pass } = await open(viewOf('pick'), [option])
  await expect.poll(() => page.getByRole('radio').count()).toBe(1)
  expect(await page.getByRole('radio').isChecked()).toBe(true)
  const go = page.getByRole('button', { name: `Continue with ${option.symbol} on` })
  await go.waitFor()
  await pass(120_000)
  expect(posted).toEqual([])
  await go.click()
  await expect.poll(() => posted.length).toBe(1)
  expect(JSON.parse(posted[0] ?? '')).toMatchObject({ asset: option.asset })
})

test('of several coins none is selected', async () => {
  const { page } = await open(viewOf('pick'))
  await page
    .getByRole('button', { name: 'Choose a coin and network' })
    .or(page.locator('.stick .main'))
    .first()
    .waitFor()
  expect(await page.getByRole('radio', { checked: true }).count()).toBe(0)
  expect(await page.locator('.stick .main').getAttribute('aria-disabled')).toBe('true')
})

// Guarantee: nobody pays a price that is over.
test('an expired price shows neither amount nor address nor code, from the moment it ends', async () => {
  const pay = viewOf('pay')
  const { paymentMethod } = pay
  if (paymentMethod === null) throw new Error('no coin was chosen')
  const ends = Date.now() + 300_000
  const { page, pass } = await open({
    ...pay,
    expiresAt: ends + 3_600_000,
    paymentMethod: { ...paymentMethod, quoteEndsAt: ends },
  })
  const shown = async () => [
    await page.locator('body').evaluate((body) => body.textContent?.includes('TSWqa1StkkGB8idDYxQd9jGZWXQfahxbG3')),
    await page.locator('main').evaluate((main) => main.textContent?.includes('148.59')),
    (await page.locator('svg.qr').count()) > 0,
    (await page.getByRole('button', { name: /^Copy/ }).count()) > 0,
  ]
  expect(await shown()).toEqual([true, true, true, true])
  await pass(301_000)
  await page.getByRole('button', { name: 'Get a new price' }).waitFor()
  expect(await shown()).toEqual([false, false, false, false])
})

test('the code holds the address, or the link with the amount, character for character', async () => {
  for (const name of ['pay', 'pay-bitcoin', 'pay-evm']) {
    const view = viewOf(name)
    const { page } = await open(view)
    const text = name === 'pay-bitcoin' ? view.paymentMethod?.uri : view.paymentMethod?.address
    const { data, size } = encode(text ?? '', { ecc: 'M', border: 4 })
    const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`${x} ${y}`] : [])))
    const path = (await page.locator('svg.qr path').getAttribute('d')) ?? ''
    const drawn = [...path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)].flatMap(([, x, y, length]) =>
      Array.from({ length: Number(length) }, (_, step) => `${Number(x) + step} ${y}`),
    )
    expect(drawn.sort(), name).toEqual(dark.sort())
    expect(await page.locator('svg.qr').getAttribute('viewBox')).toBe(`0 0 ${size} ${size}`)
  }
})

// Guarantee: a screen reader is told what changed once, and not each confirmation.
test('the bar is no live region; a hidden one is empty at load and says a new state', async () => {
  const confirming = viewOf('confirming')
  const { page, answer } = await open(confirming)
  const bar = page.locator('.state-bar')
  const region = page.getByRole('status')
  expect(await bar.count()).toBe(1)
  const live = '[aria-live], [role=status], [role=alert], [role=log]'
  expect(await page.evaluate(`document.querySelector('.state-bar').closest('${live}') === null`)).toBe(true)
  expect(await bar.locator(live).count()).toBe(0)
  expect(await region.count()).toBe(1)
  expect(await region.getAttribute('aria-live')).toBe('polite')
  expect((await region.boundingBox())?.width ?? 0).toBeLessThanOrEqual(1)
  expect(await region.textContent()).toBe('')

  const payments = confirming.payments.map((row) => ({ ...row, confirmations: 13 }))
  await answer({ ...confirming, payments })
  await page.getByText('13 of 19').first().waitFor()
  expect(await region.textContent()).toBe('')
  await answer(viewOf('paid'))
  await expect.poll(() => region.textContent()).toBe('Paid. Receipt available.')
})

describe('after the payment', () => {
  /** The shop is on the origin of the page here, because a page under test must not ask another one. */
  const paidView = () => ({ ...viewOf('paid'), successUrl: `${dev.checkoutUrl}/thanks` })
  const isHere = (page: Page) => new URL(page.url()).pathname === `/i/${SHOWN_ID}`

  test('a page that saw it returns to the shop after 15 s', async () => {
    const { page, answer, pass } = await open(viewOf('confirming'))
    // From here on time passes only where the test says so.
    await page.clock.pauseAt(Date.now() + 60_000)
    const jump = page.locator('.jump')
    await answer(paidView(), 2_500)
    while (!(await jump.isVisible())) await pass(STEP_MS)
    const left = async () => Number(/in (\d+) s/.exec((await jump.textContent()) ?? '')?.[1])
    const seconds = await left()
    // A part of the time that brought the poll may be counted already.
    expect(seconds).toBeGreaterThanOrEqual(12)
    expect(seconds).toBeLessThanOrEqual(15)
    expect(await page.locator(`a[href="${dev.checkoutUrl}/thanks"]`).count()).toBe(1)
    let passedMs = 0
    for (; (await left()) > 1; passedMs += STEP_MS) await pass(STEP_MS)
    expect(passedMs).toBeGreaterThan((seconds - 2) * 1_000)
    expect(isHere(page)).toBe(true)
    const gone = page.waitForURL('**/thanks')
    await pass(1_000 + STEP_MS)
    await gone
  })

  test('it stays when the payer says so, and when it was opened afterwards', async () => {
    const watched = await open(viewOf('confirming'))
    // The page returns after 15 s, which a busy machine may need to press the button.
    await watched.page.clock.pauseAt(Date.now() + 60_000)
    await watched.answer(paidView(), 2_500)
    const stay = watched.page.getByRole('button', { name: 'Stay here' })
    while (!(await stay.isVisible())) await watched.pass(STEP_MS)
    await stay.click()
    const later = await open(paidView())
    await later.page.getByRole('heading', { name: 'Paid. Thank you.' }).waitFor()
    for (const { page, pass } of [watched, later]) {
      await pass(120_000)
      expect(await page.getByRole('button', { name: 'Stay here' }).count()).toBe(0)
      expect(isHere(page)).toBe(true)
    }
  })
})
