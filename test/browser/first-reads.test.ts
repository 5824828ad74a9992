import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { createPaymesh } from '#clients/typescript/src/main.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { sampleOf } from '#test/support/depth.ts'
import { logIn } from '#test/support/log-in.ts'
import { sharedInstallation } from '#test/support/shared-installation.ts'

// Each way there and back costs half a second on a slow phone: data is requested together with the code that shows it, and once.
const browser = useBrowser()

/** Paths and bodies of the questions that a page asks, from now on. */
function questionsOf(page: Page): string[] {
  const requests: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (/^\/(api|trpc)\//.test(pathname) && !pathname.endsWith('/live')) requests.push(pathname)
  })
  return requests
}

/** Procedures of the dashboard's questions. */
const procedures = (input: readonly string[]) => input.flatMap((path) => path.replace('/trpc/', '').split(','))

/** A response that is still on its way when the test ends. */
const neverArrives = (): void => {}

/** Without the live line, whose first message, or failure, makes a page read everything again. */
async function withoutLiveLine(page: Page): Promise<void> {
  await page.route('**/trpc/live.changes*', neverArrives)
}

/**
 * To the page no time passes: what is old, or due every few seconds, is requested again, which is right, and a busy machine takes longer
 * than that to show a page.
 */
async function withoutTime(page: Page): Promise<void> {
  await page.clock.setFixedTime(Date.now())
  await page.addInitScript('window.setInterval = () => 0')
}

async function signedIn(path: string): Promise<{ page: Page; url: string }> {
  const dev = sharedInstallation()
  const page = await browser.open()
  await logIn(page, dev)
  // The first browser gives a workspace its time zone, and then asks once more who it is: only later visits count.
  await page.goto(`${dev.adminUrl}${dashboardPath('overview', dev.workspaceId, 'test')}`)
  const me = async () => (await page.request.get(`${dev.adminUrl}/trpc/auth.me`)).text()
  await expect.poll(me).toMatch(/"timeZone":"[^"]/)
  // The page that follows a log-in asks as well, and it must not count: it has ended when nothing is shown.
  await page.goto('about:blank')
  return { page, url: `${dev.adminUrl}${dashboardPath(path, dev.workspaceId, 'test')}` }
}

test('the checkout requests an invoice with its coins once, and before its script has arrived', async () => {
  const dev = sharedInstallation()
  const shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const { id, urls } = await shop.invoices.create({ amount: '25.00', currency: 'USD' })
  const reads = [`/api/i/${id}`]
  const page = await browser.open()
  await withoutTime(page)
  const wanted = questionsOf(page)
  await page.goto(urls.checkout)
  await page.locator('.coin button').first().waitFor()
  expect(wanted.toSorted()).toEqual(reads)

  const cut = await browser.open()
  const early = questionsOf(cut)
  await cut.route('**/assets/*.js', neverArrives)
  await cut.goto(urls.checkout, { waitUntil: 'commit' })
  await expect.poll(() => early.toSorted()).toEqual(reads)
})

test('a payment link with a price requests its coins together with its script', async () => {
  const dev = sharedInstallation()
  const shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const link = await shop.paymentLinks.create({ title: 'Mug', currency: 'USD', amount: '12.00' })
  const page = await browser.open()
  await withoutTime(page)
  const wanted = questionsOf(page)
  await page.goto(link.url)
  await page.locator('.coin button').first().waitFor()
  expect(wanted.toSorted()).toEqual([`/api/l/${link.id}`])
})

test.each(
  sampleOf(
    [
      ['overview', 'overview.volume', '.pm-figure-value, main ol'],
      ['invoices', 'invoices.list', 'main [data-row-id]'],
    ] as const,
    1,
  ),
)('the dashboard requests the first data of %s once', async (path, read, shown) => {
  const { testKey: apiKey, apiUrl: baseUrl } = sharedInstallation()
  await createPaymesh({ apiKey, baseUrl }).invoices.create({ amount: '25.00', currency: 'USD' })
  const { page, url } = await signedIn(path)
  await withoutLiveLine(page)
  await withoutTime(page)
  const wanted = questionsOf(page)
  await page.goto(url)
  await page.locator(shown).first().waitFor()
  for (const one of [read, 'auth.me', 'overview.attention']) {
    expect([one, procedures(wanted).filter((name) => name === one).length]).toEqual([one, 1])
  }
})

test.each([
  ['overview', ['overview.volume', 'overview.funnel', 'overview.chains']],
  ['invoices', ['invoices.list', 'invoices.counts']],
  ['webhooks/deliveries', []],
] as const)('the first data of %s is requested without waiting for the program', async (path, reads) => {
  const { page, url } = await signedIn(path)
  // The first script alone arrives, and no style sheet.
  await page.route(/\/assets\/((?!first-)[^/]*\.js|[^/]*\.css)$/, neverArrives)
  const wanted = questionsOf(page)
  await page.goto(url, { waitUntil: 'commit' })
  await expect
    .poll(() => procedures(wanted))
    .toEqual(expect.arrayContaining(['auth.me', 'overview.attention', ...reads]))
})

test('a page whose first data did not arrive asks again', async () => {
  const { page, url } = await signedIn('overview')
  let refused = 0
  await page.route(/\/trpc\/.*auth\.me/, async (route) => {
    refused += 1
    if (refused === 1) await route.abort()
    else await route.continue()
  })
  await page.goto(url)
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  expect(refused).toBeGreaterThan(1)
})

// Guarantee: a server that takes a request and never answers is said, in place of what was to come, and what was typed stays.
test('a server that hangs is said on a page that opens and in a form that was sent', async () => {
  const { page, url } = await signedIn('invoices/new')
  // A minute is a second here.
  await page.addInitScript(
    '{ const wait = AbortSignal.timeout; AbortSignal.timeout = (ms) => wait.call(AbortSignal, ms / 60) }',
  )
  await page.route('**/trpc/**', neverArrives)
  await page.goto(url)
  const said = page.getByText('The server did not respond.')
  await said.waitFor()
  await page.unroute('**/trpc/**')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByLabel('Amount').fill('8.25')
  await page.route('**/trpc/invoices.create', neverArrives)
  await page.getByRole('button', { name: 'Create invoice' }).click()
  await said.waitFor()
  expect(await page.getByLabel('Amount').inputValue()).toBe('8.25')
  expect(await page.getByRole('button', { name: 'Create invoice' }).isEnabled()).toBe(true)
})
