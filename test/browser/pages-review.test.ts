import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { createPaymesh } from '#clients/typescript/src/main.ts'
import { axeViolations, rulesOf, settled, showTheme } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { ASSET_OPTIONS, invoiceViews, REFUND_VIEWS, SHOWN_ID, SHOWN_TOKEN } from '#test/support/checkout-views.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { deepTest } from '#test/support/depth.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

// What a review in a real browser found, item by item (docs/reports/pages-review.md).
const browser = useBrowser()
const opened = useListSeed(browser)

const open = async (path: string, width = 1280, height = 800) => {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState, width, height })
  await page.goto(`${dev.adminUrl}${dashboardPath(path, seed.workspaceId, 'test')}`)
  await settled(page)
  return page
}

async function checkout(
  name: 'pick' | 'pay' | 'pay-bitcoin' | 'expired',
  width = 1280,
  change: { readonly paymentMethod?: null } = {},
): Promise<Page> {
  const page = await browser.open({ width, height: 800 })
  const view = { ...invoiceViews(Date.now())[name], ...change }
  await page.route('**/api/**', async (route) => {
    const url = new URL(route.request().url()).pathname
    if (url.endsWith('/live')) await route.fulfill({ status: 429, body: '' })
    else if (url.endsWith('/assets')) await route.fulfill({ json: { assets: ASSET_OPTIONS, holdMs: 1_200_000 } })
    else await route.fulfill({ json: { now: Date.now(), view } })
  })
  await page.goto(`${opened().dev.checkoutUrl}/i/${SHOWN_ID}`)
  await settled(page)
  return page
}

/** The page that asks for a refund address, whose server answers each address so; `sent` has the addresses. */
async function refund(answer: Parameters<Route['fulfill']>[0]) {
  const page = await browser.open()
  const sent: string[] = []
  await page.route('**/api/r/**', async (route) => {
    if (route.request().method() === 'GET')
      return await route.fulfill({ json: { refund: REFUND_VIEWS['refund-requested'] } })
    sent.push((route.request().postDataJSON() as { readonly address: string }).address)
    await route.fulfill(answer)
  })
  await page.goto(`${opened().dev.checkoutUrl}/r/${SHOWN_TOKEN}`)
  return { page, sent }
}

/** Whether the whole of an element is inside the window. */
const isInWindow = async (page: Page, selector: string): Promise<boolean> =>
  await page.evaluate(`(() => {
    const box = document.querySelector(${JSON.stringify(selector)})?.getBoundingClientRect()
    return box !== undefined && box.height > 0 && box.top >= 0 && box.bottom <= innerHeight && box.right <= innerWidth
  })()`)

test('the state of a payment and the way on are in view on a desk, without scrolling', async () => {
  const pay = await checkout('pay')
  await expect.poll(() => isInWindow(pay, '.state-bar')).toBe(true)
  const pick = await checkout('pick')
  await pick.locator('.coin button').first().waitFor()
  await expect.poll(() => isInWindow(pick, '.stick .main')).toBe(true)
})

deepTest('each coin is shown by its own drawn mark, and letters stand for none', async () => {
  const page = await checkout('pick')
  await page.locator('.coin button').first().waitFor()
  const names = await page.locator('.coin button').count()
  expect(await page.locator('.coin button svg.coin-mark').count()).toBe(names)
  expect(await page.locator('.coin-mark.letters').count()).toBe(0)
  const drawn = await page
    .locator('.coin button svg.coin-mark path')
    .evaluateAll((paths) => paths.map((path) => path.getAttribute('d')))
  expect(new Set(drawn).size).toBe(names)
})

test('nobody watches for a late payment where no address was ever shown', async () => {
  const chosen = await checkout('expired')
  await chosen.getByText('We keep watching for a late payment.').waitFor()
  const unchosen = await checkout('expired', 1280, { paymentMethod: null })
  await unchosen.getByText(/^You did not choose a coin before/).waitFor()
  expect(await unchosen.getByText(/keep watching/i).count()).toBe(0)
})

test('an amount with separators is kept and answered once, with an example of what to type', async () => {
  const { dev } = opened()
  const shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const link = await shop.paymentLinks.create({ title: 'Any amount', currency: 'USD', allow_custom_amount: true })
  const payer = await browser.open({ width: 390 })
  await payer.goto(link.url)
  const field = payer.getByRole('textbox', { name: 'Amount' })
  await field.fill('1,250.50')
  await payer.getByText('Enter it without separators, like 1250.50').waitFor()
  expect(await payer.getByText(/without separators/).count()).toBe(1)
  expect(await field.inputValue()).toBe('1,250.50')
  await field.fill('1250.50')
  await payer.getByText(/^You will pay .*1,250\.50/).waitFor()
})

deepTest('what was overpaid has one colour, in the list of invoices and in the inbox', async () => {
  const colourOn = async (path: string) => {
    const page = await open(path)
    await page.locator('.pm-badge', { hasText: 'Overpaid' }).first().waitFor()
    return await page.evaluate<string>(`(() => {
      const badge = [...document.querySelectorAll('.pm-badge')].find(({ textContent }) => textContent.includes('Overpaid'))
      return getComputedStyle(badge).color
    })()`)
  }
  const inList = await colourOn('invoices')
  expect(inList).toMatch(/^[a-z]+\(/)
  expect(await colourOn('exceptions')).toBe(inList)
})

test('the sentence above the code says what the code holds', async () => {
  const token = await checkout('pay')
  await token.getByText('Copy both into your wallet. The QR code contains only the address.').waitFor()
  const coin = await checkout('pay-bitcoin')
  await coin.getByText('Copy both into your wallet, or scan the code.').waitFor()
})

deepTest(
  'a refund address is shown once more before it is given, and a wrong one is kept beside its reason',
  async () => {
    const { page, sent } = await refund({ status: 400, json: { error: { code: 'VALIDATION_ERROR', details: [] } } })
    const field = page.getByRole('textbox')
    await field.fill('  0x00000000000000000000000000000000000000zz ')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'Is this address right?' }).waitFor()
    expect(sent).toEqual([])
    await page.getByRole('button', { name: 'Submit address' }).click()
    await page
      .getByRole('alert')
      .getByText(/That isn’t a valid .* address/)
      .waitFor()
    expect(sent).toEqual(['0x00000000000000000000000000000000000000zz'])
    expect(await field.inputValue()).toContain('00zz')
    await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('address')
    expect(await page.evaluate(`document.getElementById('address').getAttribute('aria-invalid')`)).toBe('true')
    expect(await axeViolations(page)).toEqual([])
  },
)

// Guarantee: an address can be given once, so nobody gives it without having seen it once more.
test('a double click on the first step of a refund address does not submit it', async () => {
  const { page, sent } = await refund({ json: { refund: REFUND_VIEWS['refund-addressed'] } })
  await page.getByRole('textbox').fill('0x00000000000000000000000000000000000000a1')
  await page.getByRole('button', { name: 'Continue' }).click()
  // The second click of the pair, at its worst: the page has changed already, and the pointer is on the button of the second step.
  const submit = page.getByRole('button', { name: 'Submit address' })
  await submit.hover()
  await page.mouse.down({ clickCount: 2 })
  await page.mouse.up({ clickCount: 2 })
  await page.getByRole('heading', { name: 'Is this address right?' }).waitFor()
  expect(sent).toEqual([])
  await submit.click()
  await submit.waitFor({ state: 'detached' })
  expect(sent).toEqual(['0x00000000000000000000000000000000000000a1'])
})

deepTest('nothing is simulated on an invoice that is over', async () => {
  const { seed } = opened()
  const paid = await open(`invoices/${seed.invoices['paid']}`)
  expect(await paid.getByText('Simulate:').count()).toBe(0)
  const pending = await open(`invoices/${seed.invoices['pending']}`)
  await pending.getByText('Simulate:').waitFor()
})

deepTest('the question before a cancellation names what each button does', async () => {
  const page = await open(`invoices/${opened().seed.invoices['pending']}`)
  await page.getByRole('button', { name: 'Cancel invoice' }).click()
  const dialog = page.getByRole('dialog', { name: 'Cancel invoice' })
  await dialog.waitFor()
  const labels = await dialog.locator('form').getByRole('button').allTextContents()
  expect(labels).toEqual(['Keep invoice', 'Cancel invoice'])
  for (const colorScheme of ['light', 'dark'] as const) {
    await showTheme(page, colorScheme)
    expect([colorScheme, await axeViolations(page, rulesOf(colorScheme))]).toEqual([colorScheme, []])
  }
  await dialog.getByRole('button', { name: 'Keep invoice' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Cancel invoice' }).waitFor()
})

deepTest('the search, the keys and both menus are accessible while open, and give the focus back', async () => {
  const page = await open('overview')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Search everywhere' }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  for (const name of [/Change workspace$/, /Menu$/]) {
    const button = page.getByRole('button', { name })
    await button.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem').first().waitFor()
    await expect.poll(() => page.evaluate('document.activeElement?.getAttribute("role")')).toBe('menuitem')
    expect(await axeViolations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await expect.poll(async () => await button.evaluate((element) => element.matches(':focus'))).toBe(true)
    // A second press of the same button closes the menu that the first one opened.
    await button.click()
    await page.getByRole('menuitem').first().waitFor()
    await button.click()
    await page.getByRole('menu').waitFor({ state: 'detached' })
  }
})

test('a dialog gives the focus back to its button, also the first time, when its code was loaded for it', async () => {
  const page = await open(`invoices/${opened().seed.invoices['pending']}`)
  const cancel = page.getByRole('button', { name: 'Cancel invoice' })
  const hasFocus = async () => await cancel.evaluate((element) => element.matches(':focus'))
  for (const leave of ['Escape', 'Enter']) {
    await cancel.focus()
    await page.keyboard.press('Enter')
    const keep = page.getByRole('dialog', { name: 'Cancel invoice' }).getByRole('button', { name: 'Keep invoice' })
    await keep.focus()
    await page.keyboard.press(leave)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(hasFocus).toBe(true)
  }
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expect.poll(hasFocus).toBe(true)
})

deepTest('a dialog of a page gives the focus back to its button the first time', async () => {
  const page = await open('products')
  const add = page.getByRole('button', { name: 'New product' }).first()
  await add.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'New product' }).getByRole('textbox').first().focus()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expect.poll(async () => await add.evaluate((element) => element.matches(':focus'))).toBe(true)
})

test('the inbox works by keys: J moves, Enter opens, Esc returns to the row, which names invoice and price', async () => {
  const page = await open('exceptions?group=money')
  const rows = page.locator('main [data-row-id]')
  await rows.first().waitFor()
  const first = (await rows.first().getAttribute('data-row-id')) ?? ''
  const focused = async () => await page.evaluate('document.activeElement?.getAttribute("data-row-id")')
  await page.keyboard.press('j')
  await expect.poll(focused).toBe(first)
  expect(await rows.first().textContent()).toMatch(/#\d+.*\d\.\d\d\sUSD/)
  await page.keyboard.press('Enter')
  const item = page.locator('main aside')
  await item.getByRole('heading').first().waitFor()
  await page.keyboard.press('Escape')
  await item.waitFor({ state: 'detached' })
  await expect.poll(focused).toBe(first)
})

/** The list with each exception a second time, under another ID; an open one can be accepted and rejected. */
function decidable(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if ('ways' in value) return { ...value, ways: ['accepted'] }
  if (!('items' in value) || !Array.isArray(value.items)) return value
  const another = (item: { readonly id: string }) => ({ ...item, id: item.id.replace(/^.{8}/, 'ffffffff') })
  return { ...value, items: value.items.flatMap((item) => [item, another(item)]) }
}

// Guarantee: nobody decides an exception that is not the one they are looking at.
deepTest('A and R leave the open exception alone while the focus is on the row of another', async () => {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState })
  // The seed has one such exception, an overpayment, which nobody accepts.
  await page.route(/\/trpc\/[^?]*exceptions\.(list|get)/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: JSON.stringify(JSON.parse(await response.text(), decidable)) })
  })
  await page.goto(`${dev.adminUrl}${dashboardPath('exceptions?group=money', seed.workspaceId, 'test')}`)
  const rows = page.locator('main [data-row-id]')
  await rows.nth(1).waitFor()
  await rows.first().click()
  const reject = page.locator('main aside').getByRole('radio', { name: /^Reject/ })
  await reject.waitFor()
  await rows.first().focus()
  await page.keyboard.press('j')
  await expect.poll(() => rows.nth(1).evaluate((row) => row.matches(':focus'))).toBe(true)
  await page.keyboard.press('r')
  await page.keyboard.press('a')
  // Keys are handled in order: when K has moved the focus back, the answers have had their turn.
  await page.keyboard.press('k')
  await expect.poll(() => rows.first().evaluate((row) => row.matches(':focus'))).toBe(true)
  expect(await reject.isChecked()).toBe(false)
  await page.keyboard.press('r')
  await expect.poll(() => reject.isChecked()).toBe(true)
  await expect.poll(() => page.evaluate('document.activeElement?.hasAttribute("data-after-key")')).toBe(true)
})

deepTest('all deliveries of a page are selected at once, before the rows', async () => {
  const page = await open('webhooks/deliveries')
  const rows = page.locator('main tbody tr')
  await rows.first().waitFor()
  const count = await rows.count()
  await page.getByRole('checkbox', { name: 'Select all deliveries of this page' }).check()
  await page.getByRole('button', { name: `Resend ${count} ${count === 1 ? 'delivery' : 'deliveries'}` }).waitFor()
  expect(await rows.first().locator('td').first().getByRole('checkbox').isChecked()).toBe(true)
  await page.getByRole('checkbox', { name: 'Select all deliveries of this page' }).uncheck()
  expect(await page.getByRole('button', { name: /^Resend \d/ }).count()).toBe(0)
})

test('invoices name their customer', async () => {
  const page = await open('invoices')
  await page.getByRole('columnheader', { name: 'Customer' }).waitFor()
})

deepTest('on a phone the navigation is at the bottom, with names', async () => {
  const page = await open('invoices', 390, 844)
  await expect.poll(() => isInWindow(page, '.pm-nav [aria-current="page"]')).toBe(true)
  const box = await page.getByRole('navigation', { name: 'Main' }).boundingBox()
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeCloseTo(844, 0)
  const word = await page
    .getByRole('navigation', { name: 'Main' })
    .getByText('Exceptions', { exact: true })
    .boundingBox()
  expect(word?.width ?? 0).toBeGreaterThan(20)
  expect(await axeViolations(page)).toEqual([])
})
