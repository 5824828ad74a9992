import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { describe, expect, test } from 'vitest'
import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import {
  axeViolations,
  brokenWords,
  EVERY_LOOK,
  rulesOf,
  settled,
  sidewaysPixels,
} from '#test/support/accessibility.ts'
import { ANYBODY, useBrowser } from '#test/support/browser.ts'
import {
  ASSET_OPTIONS,
  hostileView,
  invoiceViews,
  LINK_VIEWS,
  REFUND_VIEWS,
  SHOWN_ID,
  SHOWN_TOKEN,
} from '#test/support/checkout-views.ts'
import { sampleOf } from '#test/support/depth.ts'
import { amountsIn, type PutIn, plainText, withExtremeValues } from '#test/support/extreme-values.ts'
import { plainMarkup } from '#test/support/plain-markup.ts'
import { sharedInstallation } from '#test/support/shared-installation.ts'

const browser = useBrowser()
const SCRIPT_GZIP_MAX = 80 * 1_024
const dev = sharedInstallation()

const now = Date.now()
const views: Readonly<Record<string, InvoiceView>> = { ...invoiceViews(now), hostile: hostileView(now) }
const answer = (view: unknown) => ({ now: Date.now(), view })
const STATES: Readonly<Record<string, readonly [path: string, body: unknown]>> = {
  ...Object.fromEntries(Object.entries(views).map(([name, view]) => [name, [`/i/${SHOWN_ID}`, answer(view)]])),
  ...Object.fromEntries(
    (['pay', 'partial', 'paid', 'overpaid', 'refunded', 'paid-simulated', 'hostile', 'branded'] as const).map(
      (name) => [`receipt-${name}`, [`/i/${SHOWN_ID}/receipt`, answer(views[name])]],
    ),
  ),
  ...Object.fromEntries(Object.entries(LINK_VIEWS).map(([name, link]) => [name, [`/l/${SHOWN_ID}`, { link }]])),
  ...Object.fromEntries(
    Object.entries(REFUND_VIEWS).map(([name, refund]) => [name, [`/r/${SHOWN_TOKEN}`, { refund }]]),
  ),
  missing: [`/i/${SHOWN_ID}`, null],
}

/** A wallet as extensions put it into pages, on main net until "window.chain" says otherwise. */
const WALLET = `
  window.calls = []
  window.ethereum = { request: async (call) => {
    window.calls.push(call)
    if (call.method === 'eth_requestAccounts') return ['0x00000000000000000000000000000000000000aa']
    if (call.method === 'eth_chainId') return window.chain ?? '0x1'
    return '0x' + '1'.repeat(64)
  } }`

/** A wide logo, the hardest to place on a small screen. */
const LOGO = sharp({ create: { width: 480, height: 160, channels: 3, background: 'maroon' } })
  .webp()
  .toBuffer()

/** Pages of each language share compiled scripts. */
const SPEAKERS: Readonly<Record<string, typeof ANYBODY>> = { 'es-AR': { ...ANYBODY }, 'pt-BR': { ...ANYBODY } }

/** Opens the real page with our own answer, so that each state is there at once and stays. */
async function show(
  name: string,
  options: Parameters<typeof browser.open>[0] = {},
  script = '',
  answer: unknown = STATES[name]?.[1] ?? null,
  path = STATES[name]?.[0] ?? '/',
): Promise<Page> {
  const page = await browser.open({ session: SPEAKERS[options.locale ?? ''] ?? ANYBODY, ...options })
  if (script !== '') await page.addInitScript(script)
  await page.route('**/api/**', async (route) => {
    const url = new URL(route.request().url()).pathname
    if (url.endsWith('/live')) await route.fulfill({ status: 429, body: '' })
    else if (url.endsWith('/assets')) await route.fulfill({ json: { assets: ASSET_OPTIONS, holdMs: 1_200_000 } })
    else if (answer === null) await route.fulfill({ status: 404, json: { error: { code: 'NOT_FOUND', details: [] } } })
    else await route.fulfill({ json: answer })
  })
  await page.route('**/logo/*', async (route) => route.fulfill({ contentType: 'image/webp', body: await LOGO }))
  await page.goto(`${dev.checkoutUrl}${path}`)
  await settled(page)
  return page
}

/** The page without scripts of an answer, with the styles of one that the server makes. */
async function showPlain(path: string, body: unknown): Promise<Page> {
  const page = await browser.open({ session: ANYBODY })
  const built = await (await fetch(`${dev.checkoutUrl}/i/${SHOWN_ID}/plain`)).text()
  const styles = [...built.matchAll(/<link rel="stylesheet"[^>]*href="([^"]+)"/g)].map(([, href = '']) => href)
  const markup = plainMarkup(path, body as Parameters<typeof plainMarkup>[1], styles)
  await page.route('**/plain', async (route) =>
    route.fulfill({ contentType: 'text/html; charset=utf-8', body: markup }),
  )
  await page.goto(`${dev.checkoutUrl}${path}`)
  return page
}

/** Which themes are looked at by width. What fits is measured at each; a page at 390 pixels is that of 320 with more room. */
const LOOKS = {
  each: { 320: ['light'], 390: [], 1280: ['dark'] },
  every: { 320: ['light', 'dark'], 390: ['light', 'dark'], 1280: ['light', 'dark'] },
} as const

/** Guarantee: nobody is kept from paying by their eyes, their hands, a small screen or a dark room. */
test.each(sampleOf(Object.keys(STATES), 3))('%s is accessible at each width in both themes', async (name) => {
  const page = await show(name)
  // Texts that are filled with texts say no word twice.
  expect(await page.locator('main').textContent()).not.toMatch(/\b(\p{L}{2,}) \1\b/iu)
  for (const [width, themes] of Object.entries(EVERY_LOOK ? LOOKS.every : LOOKS.each)) {
    await page.setViewportSize({ width: Number(width), height: 800 })
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme })
      // A theme changes how things look and nothing else, nor does a width within one document.
      const isWhole = colorScheme === 'light' && (EVERY_LOOK || width === '320')
      const found = await axeViolations(page, isWhole ? 'all' : 'looks')
      expect({ width, colorScheme, found }).toEqual({ width, colorScheme, found: [] })
    }
    expect({ width, sideways: await sidewaysPixels(page) }).toEqual({ width, sideways: 0 })
    if (Number(width) < 900) expect({ width, small: await smallTargets(page) }).toEqual({ width, small: [] })
  }
})

const pageOf = (path: string) => path.replace(/\/[^/]{36,43}(?=\/|$)/, '')
/** States that ask for a payment. */
const PAYABLE = /^(pay|partial$|announced|branded|stepped-back)/
/** States in which what came is said coin by coin. */
const HAS_COINS = /^(receipt-)?(paid|overpaid|refunded|accepted-short)/
/** Links that say why they take no payment instead of what for. */
const isOver = (name: string) => name === 'link-ended' || name === 'link-suspended'
/** Fields that a page does not say: those that the receipt says, and what is left to pay where nothing is asked for. */
const UNSAID: Readonly<Record<string, (field: string, name: string) => boolean>> = {
  '/i': (field, name) =>
    /^view\.(books\.(?!refunds|coins)|paymentMethod\.due$)/.test(field) ||
    (field === 'view.received' && HAS_COINS.test(name)) ||
    (field === 'view.paymentMethod.remaining' && !PAYABLE.test(name)),
  '/i/plain': (field, name) =>
    /^view\.(received|books\.(?!refunds)|paymentMethod\.due$)/.test(field) ||
    (field === 'view.paymentMethod.remaining' && !PAYABLE.test(name)),
  '/i/receipt': (field, name) =>
    /^view\.paymentMethod\.(due|remaining)$/.test(field) || (field === 'view.received' && HAS_COINS.test(name)),
  '/i/receipt/plain': (field, name) =>
    /^view\.paymentMethod\.(due|remaining)$/.test(field) || (field === 'view.received' && HAS_COINS.test(name)),
  '/l': (field, name) => field === 'link.title' && isOver(name),
  '/l/plain': (field, name) => field === 'link.title' && isOver(name),
}

// Guarantee: whatever a merchant names things and however large or small amounts are, a payer reads what the server says: the same numbers with
// the same units, whole names as text, and nothing beyond the window's edge.
const SHOWN = Object.keys(STATES).filter((name) => !['missing', 'hostile', 'receipt-hostile'].includes(name))
const EXTREME: readonly (readonly [name: string, path: string])[] = [
  ...sampleOf(
    SHOWN.map((name) => [name, STATES[name]?.[0] ?? ''] as const),
    3,
  ),
  // The server makes these of the same answers.
  ...sampleOf(
    SHOWN.flatMap((name) => {
      const [path = ''] = STATES[name] ?? []
      return path.startsWith('/r/') ? [] : [[name, `${path}/plain`] as const]
    }),
    3,
  ),
]
test.each(EXTREME)('%s shows extreme values as its server says them on %s', async (name, path) => {
  const put: PutIn[] = []
  const body = withExtremeValues('checkout.view', STATES[name]?.[1], (one) => put.push(one))
  const page = path.endsWith('/plain') ? await showPlain(path, body) : await show(name, {}, '', body)
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 844 })
    expect([name, width, await sidewaysPixels(page)]).toEqual([name, width, 0])
  }
  await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)
  const text = await page.evaluate<string>('document.body.innerText')
  const [shown, plain, words] = [amountsIn(text), plainText(text), text.split(/[\s−]+/)]
  // On a receipt the unit of a column of amounts is its heading.
  const says = (amount: string) =>
    shown.includes(amount) || (path.includes('/receipt') && words.includes(amount.split(' ')[0] ?? ''))
  const missing = put.filter(
    ({ field, amount, name: given }) =>
      UNSAID[pageOf(path)]?.(field, name) !== true &&
      ((amount !== undefined && !says(amount)) || (given !== undefined && !plain.includes(plainText(given)))),
  )
  expect({ name, missing }).toEqual({ name, missing: [] })
  expect(await page.evaluate('window.attacked === undefined')).toBe(true)
})

// Guarantee: who sets large text in the browser gets every text of a page larger, and still the whole page.
test.each(sampleOf(SHOWN, 4))('%s follows the text size of the browser', async (name) => {
  const page = await show(name)
  const sizes = async () =>
    (await page.evaluate(`[...document.querySelectorAll('body, body *')]
        .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''))
        .map((one) => Number.parseFloat(getComputedStyle(one).fontSize))`)) as readonly number[]
  for (const width of [320, 390]) {
    await page.setViewportSize({ width, height: 844 })
    const usual = await sizes()
    const cdp = await page.context().newCDPSession(page)
    await cdp.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } })
    const large = await sizes()
    const smaller = large.filter((size, at) => size < 2 * (usual[at] ?? 0))
    const split = await brokenWords(page, '.estimate')
    expect([name, width, smaller, await sidewaysPixels(page), split]).toEqual([name, width, [], 0, []])
    await cdp.send('Page.setFontSizes', { fontSizes: { standard: 16, fixed: 13 } })
    await cdp.detach()
  }
})

/** What a payer opens or does on a page before it is looked at. */
const ACTS: Readonly<Record<string, readonly [state: string, act: (page: Page) => Promise<void>]>> = {
  ...Object.fromEntries(
    ['pay', 'partial', 'branded', 'expired', 'overpaid'].map((name) => [
      `every question of ${name}`,
      [name, (page) => page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)],
    ]),
  ),
  'a refused transaction id': [
    'pay',
    async (page) => {
      await page.getByText('I paid but nothing happened').click()
      await page.route('**/question', async (route) =>
        route.fulfill({ status: 400, json: { error: { code: 'VALIDATION_ERROR', details: [] } } }),
      )
      await page.getByLabel('Transaction ID').fill('abc')
      await page.getByRole('button', { name: 'Look it up' }).click()
      await page.getByText('That doesn’t look like a transaction ID.').waitFor()
    },
  ],
  'a chosen network of a link': [
    'link-fixed',
    async (page) => {
      await page.getByRole('radio', { name: /TRON/ }).check()
      await page.getByRole('button', { name: 'Continue with USDT on TRON' }).waitFor()
    },
  ],
  'an amount that is too small': [
    'link-custom',
    async (page) => {
      await page.getByLabel('Amount', { exact: true }).fill('4')
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.locator('#amount-echo').getByText('Between 200.00 MXN and 5,000.00 MXN.').waitFor()
    },
  ],
  'a refund’s address, and its refusal': [
    'refund-requested',
    async (page) => {
      await page.getByLabel('Your USDT address on TRON').fill('TSWqa1StkkGB8idDYxQd9jGZWXQfahxbG3')
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('heading', { name: 'Is this address right?' }).waitFor()
      expect(await axeViolations(page, 'all')).toEqual([])
      await page.route('**/api/r/*', async (route) =>
        route.fulfill({ status: 400, json: { error: { code: 'VALIDATION_ERROR', details: [] } } }),
      )
      await page.getByRole('button', { name: 'Submit address' }).click()
      await page.getByText('That isn’t a valid TRON address.').waitFor()
    },
  ],
}

/** Guarantee: what opens on a page, and what goes wrong in a form, can be read and used like the page itself. */
test.each(sampleOf(Object.keys(ACTS), 2))('%s: accessible in both themes', async (name) => {
  const [state, act] = ACTS[name] ?? ['', async () => undefined]
  const page = await show(state, { width: 375 })
  await act(page)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const found = await axeViolations(page, rulesOf(colorScheme))
    expect({ colorScheme, found }).toEqual({ colorScheme, found: [] })
  }
  expect(await sidewaysPixels(page)).toBe(0)
})

/** Controls below 44 pixels in either direction; links inside of sentences are exempt (WCAG 2.5.8). */
async function smallTargets(page: Page): Promise<readonly string[]> {
  return await page.evaluate<readonly string[]>(`
    [...document.querySelectorAll('button, summary, select, input, a.button, label.network')]
      .filter((element) => element.checkVisibility() && !element.closest('label.network, .money, .unseen') || element.matches('label.network'))
      .map((element) => [element.getBoundingClientRect(), element.outerHTML.slice(0, 80)])
      .filter(([box]) => box.height < 44 || box.width < 44)
      .map(([box, html]) => box.width + 'x' + box.height + ' ' + html)`)
}

test('the longest language fits the smallest screen', async () => {
  for (const locale of ['es-AR', 'pt-BR']) {
    for (const name of sampleOf(['pay-evm', 'pick', 'late', 'link-custom', 'receipt-paid'], 2)) {
      const page = await show(name, { width: 320, locale })
      expect([locale, name, await sidewaysPixels(page)]).toEqual([locale, name, 0])
      expect(await page.locator('html').getAttribute('lang')).toBe(locale.slice(0, 2))
    }
  }
})

// Guarantee: the menu names its language whole and leaves the merchant room; what the head of a bill cuts off scrolls nowhere.
test('the menu of languages stands beside the merchant on the smallest screen', async () => {
  for (const name of sampleOf(['hostile', 'pay-evm', 'pick', 'link-custom', 'refund-requested', 'branded'], 2)) {
    const page = await show(name, { width: 320, locale: 'pt-BR' })
    const menu = await page.locator('.language').boundingBox()
    const who = await page.locator('.who').boundingBox()
    if (menu === null || who === null) throw new Error(`${name} lacks its head`)
    expect(menu.x + menu.width, name).toBeLessThanOrEqual(320 - 8)
    expect(who.x + who.width, name).toBeLessThanOrEqual(menu.x)
    expect(who.width, name).toBeGreaterThan(96)
    const cut = await page.locator('.language select').evaluate((select) => select.scrollWidth - select.clientWidth)
    expect(cut, name).toBe(0)
  }
})

// Guarantee: a page whose payer chose another coin in another window shows that one's address, and says so to who cannot see it.
test('another coin that was chosen in another window is shown and announced', async () => {
  const page = await show('pay')
  await page.getByRole('heading', { name: /USDT on TRON/ }).waitFor()
  await page.route('**/api/**', async (route) => {
    if (new URL(route.request().url()).pathname.endsWith('/live')) await route.fulfill({ status: 429, body: '' })
    else await route.fulfill({ json: answer({ ...views['pay-bitcoin'], version: 2 }) })
  })
  await page.getByRole('heading', { name: /BTC on Bitcoin/ }).waitFor()
  await expect.poll(() => page.locator('.unseen[role=status]').textContent()).toBe('Send 0.00159915 BTC on Bitcoin')
  expect(await page.locator('.address').textContent()).toBe('bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq')
})

// Guarantee: the server and its page read a path alike: what mail programs and people add to one costs nobody the page.
test.each([
  ['pay', `/i/${SHOWN_ID}/`, /USDT on TRON/],
  ['pay', `/I/${SHOWN_ID.toUpperCase()}`, /USDT on TRON/],
  ['paid', `/i/${SHOWN_ID}/Receipt/`, /^Receipt/],
  ['link-custom', `/L/${SHOWN_ID}/`, /Barista workshop/],
  ['refund-requested', `/R/${SHOWN_TOKEN}/`, /Where should your refund go/],
])('%s is shown at %s', async (name, path, heading) => {
  const page = await show(name, {}, '', STATES[name]?.[1], path)
  await page.getByRole('heading', { name: heading }).first().waitFor()
})

/** How often a page was left for an address that gave it no document. A page whose next document comes while it closes never closes. */
function staysOf(page: Page): () => number {
  let stays = 0
  page.on('requestfailed', (request) => {
    if (request.isNavigationRequest()) stays += 1
  })
  return () => stays
}

// Guarantee: the way back of the browser leads to a page that works, and never away from it again.
test('a payer who comes back to a link can press its button again', async () => {
  const page = await show('link-custom')
  let sent = 0
  await page.route('**/api/l/*/invoice', async (route) => {
    sent += 1
    await route.fulfill({ json: { invoice: { id: SHOWN_ID, status: 'new' } } })
  })
  // The page stays, as in the browser's memory.
  await page.route(`**/i/${SHOWN_ID}`, (route) => route.fulfill({ status: 204 }))
  const stays = staysOf(page)
  await page.getByLabel('Amount', { exact: true }).fill('400')
  const go = page.getByRole('button', { name: /^Continue with/ })
  await go.click()
  await page.locator('button[aria-busy=true]').waitFor()
  await page.evaluate(`window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`)
  await page.locator('button.main[aria-busy=false]').waitFor()
  await go.click()
  await expect.poll(() => [sent, stays()]).toEqual([2, 2])
})

test('a payer who pays is led to the shop while they look, and once', async () => {
  const paid = { ...views['paid'], version: 9, successUrl: `${dev.checkoutUrl}/back-at-the-shop` } as InvoiceView
  const page = await show(
    'pay',
    {},
    `Object.defineProperty(document, 'visibilityState', { get: () => window.seen ?? 'visible' })`,
  )
  await page.clock.install()
  const stays = staysOf(page)
  let visits = 0
  await page.route('**/back-at-the-shop', async (route) => {
    visits += 1
    await route.fulfill({ status: 204 })
  })
  // Not the live line, which no JSON answers.
  await page.route(/\/api\/i\/[^/]+$/, (route) => route.fulfill({ json: answer(paid) }))
  await page.evaluate(`window.dispatchEvent(new Event('focus'))`)
  const jump = page.locator('.jump span')
  await page.clock.runFor(8_000)
  await jump.waitFor()
  await page.evaluate(`window.seen = 'hidden'`)
  await page.clock.runFor(2_000)
  const before = await jump.textContent()
  await page.clock.runFor(20_000)
  expect([await jump.textContent(), visits]).toEqual([before, 0])
  await page.evaluate(`window.seen = 'visible'`)
  await page.clock.runFor(20_000)
  await expect.poll(() => [visits, stays()]).toEqual([1, 1])
  await page.clock.runFor(20_000)
  expect([visits, await jump.count()]).toEqual([1, 0])
})

// Guarantee: nobody is asked for a rest at a price that has ended.
test('a payer whose price ended after a part of it was paid gets a new one for the rest, and no address meanwhile', async () => {
  const page = await show('lapsed-partial')
  const text = (await page.locator('main').textContent()) ?? ''
  expect(text).toContain('We received 147.59 USDT, and that counts.')
  expect(text).not.toContain('left to pay')
  await expect.poll(async () => await page.getByRole('button', { name: /^Copy/ }).count()).toBe(0)
  const requests: string[] = []
  page.on('request', (request) => void requests.push(new URL(request.url()).pathname))
  await page.getByRole('button', { name: 'Get a new price' }).click()
  await expect.poll(() => requests).toContain(`/api/i/${SHOWN_ID}/price`)
})

const NOTHING_CAME = /no payment arrived|nothing received|did not arrive in time/i

// Guarantee: nobody is told that nothing arrived while blocks of the time to pay are not read.
test('a payer whose time is over while the network is not read yet is not told that nothing arrived', async () => {
  for (const [name, seen] of [
    ['checking', null],
    ['checking-partial', 'So far we have seen 147.59 of 148.59 USDT.'],
    ['expired-unread', null],
  ] as const) {
    const page = await show(name)
    const text = (await page.locator('main').textContent()) ?? ''
    expect(text, name).toContain('we have not checked all of TRON up to then.')
    expect(text, name).toContain('don’t pay again')
    expect(text, name).toContain('We are checking the network')
    expect(text, name).not.toMatch(NOTHING_CAME)
    if (seen !== null) expect(text).toContain(seen)
  }
  // These are the words that a payer reads once the network is read to the end.
  for (const name of ['expired', 'short']) {
    const page = await show(name)
    expect(await page.locator('main').textContent(), name).toMatch(NOTHING_CAME)
  }
})

/** Guarantee: text of other people is text, and no link of theirs runs a script. */
test('hostile text does nothing', async () => {
  const page = await show('hostile')
  const text = await page.locator('body').textContent()
  expect(text).toContain('<script>alert(1)</script>')
  expect(text).toContain('␦gnp.exe␦')
  expect(text).not.toContain('\u202e')
  await expect.poll(async () => await page.locator('a[href^="javascript"]').count()).toBe(0)
  await expect.poll(async () => await page.locator('img').count()).toBe(0)
})

describe('what a payer copies', () => {
  test('is what is shown and what the code holds, character for character', async () => {
    const page = await show('pay')
    const address = await page.locator('.address').evaluate((element) => element.textContent)
    expect(address).toBe('TSWqa1StkkGB8idDYxQd9jGZWXQfahxbG3')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy address ending in xbG3' }).click()
    const clipboard = () => page.evaluate('navigator.clipboard.readText()')
    await expect.poll(clipboard).toBe(address)
    await page.getByRole('button', { name: 'Copy amount 148.59' }).click()
    await expect.poll(clipboard).toBe('148.59')
    await expect.poll(() => page.getByRole('status').textContent()).toBe('Amount 148.59 copied.')
  })

  test('is said to be not copied where the browser forbids it, and selecting it gives the same', async () => {
    const page = await show(
      'pay',
      { width: 390 },
      `Object.defineProperty(navigator, 'clipboard', { value: undefined })`,
    )
    await page.getByRole('button', { name: 'Copy address ending in xbG3' }).click()
    await page.locator('.copy-failed').getByText('Copying did not work. Select the text instead.').waitFor()
    expect(await sidewaysPixels(page)).toBe(0)
    const selected = await page.evaluate(`{
      getSelection().selectAllChildren(document.querySelector('.address'))
      String(getSelection())
    }`)
    expect(selected).toBe('TSWqa1StkkGB8idDYxQd9jGZWXQfahxbG3')
  })

  test('has the address first for tokens and the link first for coins, and opens a wallet in test mode too', async () => {
    const token = await show('pay-evm', { width: 375 })
    await expect.poll(async () => await token.getByRole('tab', { selected: true }).textContent()).toBe('Address')
    await expect
      .poll(async () => await token.getByRole('img', { name: 'QR code of the payment address', exact: true }).count())
      .toBe(1)
    await expect.poll(async () => await token.locator('a[href^="ethereum:"]').count()).toBe(1)
    const coin = await show('pay-bitcoin', { width: 375 })
    await expect.poll(async () => await coin.getByRole('tab', { selected: true }).textContent()).toBe('With amount')
    await expect.poll(async () => await coin.locator('a[href^="bitcoin:"]').count()).toBe(1)
    expect(await (await show('pay')).getByRole('tab').count()).toBe(0)
  })

  test('goes to a browser wallet on the chain of the invoice or not at all', async () => {
    const page = await show('pay-evm', {}, WALLET)
    const button = page.getByRole('button', { name: 'Pay with a browser wallet' })
    await button.click()
    await page.getByText('The wallet did not switch to Base').waitFor()
    const sent = () => page.evaluate(`window.calls.filter(({ method }) => method === 'eth_sendTransaction')`)
    expect(await sent()).toEqual([])
    await page.evaluate(`window.chain = '0x2105'`)
    await button.click()
    await page.getByText('Sent. It appears here as soon as the network sees it.').waitFor()
    expect(await sent()).toMatchObject([
      {
        params: [
          {
            to: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
            data: '0xa9059cbb0000000000000000000000008282ec02e4038c9f6789c1e7c2ecdc172be26fde0000000000000000000000000000000000000000000000000000000008da3c40',
          },
        ],
      },
    ])
  })
})

/** Guarantee: the pages load on a bad line, and only what we wrote runs in them. */
test('the page is small, and its policy allows nothing but our own files', async () => {
  const response = await fetch(`${dev.checkoutUrl}/i/${SHOWN_ID}`)
  expect(response.status).toBe(200)
  const policy = response.headers.get('content-security-policy')
  expect(policy).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  )
  expect(response.headers.get('referrer-policy')).toBe('no-referrer')
  const html = await response.text()
  const scripts = [...html.matchAll(/<script[^>]*src="([^"]+)"/g)].map(([, path]) => path)
  expect(scripts).toHaveLength(1)
  const script = await fetch(`${dev.checkoutUrl}${scripts[0]}`, { headers: { 'Accept-Encoding': 'identity' } })
  expect(script.headers.get('cache-control')).toContain('immutable')
  expect(gzipSync(Buffer.from(await script.arrayBuffer())).length).toBeLessThanOrEqual(SCRIPT_GZIP_MAX)
})
