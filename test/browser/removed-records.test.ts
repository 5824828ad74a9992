import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath, RECORD_PAGES } from '#test/support/dashboard-pages.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

const browser = useBrowser()
const opened = useListSeed(browser)

/** Pages and drawers of one record and what they call it, by the procedure that reads it. */
const RECORDS = {
  'invoices.get': ['invoice paid', 'this invoice'],
  'customers.get': ['customer', 'this customer'],
  'paymentLinks.get': ['links: first row', 'this link'],
  'exceptions.get': ['exceptions: first row', 'this exception'],
  'deliveries.get': ['deliveries: first row', 'the delivery'],
  'deliveries.event': ['events: first row', 'the event'],
} as const

const refusal = (code: string) => ({ error: { message: 'Refused.', code: -32_000, data: { code, details: [] } } })
const html = (status: number) => ({ status, contentType: 'text/html', body: '<h1>A proxy</h1>' })
/** Answers that say nothing about a record: by the server, by something before it, and none at all. */
const UNCLEAR = {
  'a store that fails': refusal('INTERNAL_SERVER_ERROR'),
  'too many requests': refusal('TOO_MANY_REQUESTS'),
  'a proxy without a server': html(503),
  'a proxy without a route': html(404),
  'a proxy that wants a password': html(401),
  'a proxy that says gone': html(410),
  'no connection': null,
} as const
type Fault = (typeof UNCLEAR)[keyof typeof UNCLEAR]

/**
 * Answers the reads of one procedure with a fault, from when it is set: also those on their way, since a live signal or the page's clock may
 * start one at any moment. `hold` keeps all answers back until the returned function is called.
 */
async function withFaults(page: Page, procedure: string) {
  let fault: { readonly now: Fault } | null = null
  let free: Promise<void> = Promise.resolve()
  await page.route(/\/trpc\/(?!live\.)/, async (route: Route) => {
    const names = new URL(route.request().url()).pathname.split('/trpc/')[1]?.split(',') ?? []
    if (!names.includes(procedure)) return await route.continue()
    const response = await route.fetch()
    await free
    if (fault === null) return await route.fulfill({ response })
    const { now: answer } = fault
    if (answer === null) return await route.abort('connectionrefused')
    if ('status' in answer) return await route.fulfill(answer)
    const answers = (await response.json()) as readonly unknown[]
    await route.fulfill({ status: 207, json: answers.map((one, at) => (names[at] === procedure ? answer : one)) })
  })
  return {
    answerWith: (next: typeof fault) => {
      fault = next
    },
    hold: () => {
      let release: () => void = () => undefined
      free = new Promise((resolve) => {
        release = resolve
      })
      return release
    },
  }
}

/** The page is looked at again after data has become old: every shown query reads. */
async function readAgain(page: Page): Promise<void> {
  await page.clock.fastForward(11_000)
  await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))')
}

const CASES = Object.keys(RECORDS) as (keyof typeof RECORDS)[]

// Guarantee: an operator is told when what they look at could not be read again, and sees "no longer here" only when the server said so.
test.each(sampleOf(CASES, 2))('%s: what was read stays until the server says that it is gone', async (procedure) => {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState, isAway: true, expected: /TRPC|Refused|trpc/ })
  await page.clock.install()
  const { answerWith, hold } = await withFaults(page, procedure)
  const [name, what] = RECORDS[procedure]
  const { path, open } = RECORD_PAGES[name] ?? { path: '' }
  const place = typeof path === 'string' ? path : path(seed)
  await page.goto(`${dev.adminUrl}${dashboardPath(place, seed.workspaceId, 'test')}`)
  await settled(page)
  await open?.(page)
  await settled(page)
  const main = page.locator('main')
  const gone = main.getByText('It is no longer here: it was removed, or you may no longer see it.')
  const old = main.getByRole('alert').filter({ hasText: `Could not refresh ${what}. You see what was read at ` })
  const before = await main.getByRole('heading').allTextContents()
  /** Headings of before that the page lacks; what it compares may still come. */
  const missing = async () => {
    const now = await main.getByRole('heading').allTextContents()
    return before.filter((heading) => !now.includes(heading))
  }
  for (const [how, now] of Object.entries(UNCLEAR)) {
    answerWith({ now })
    await readAgain(page)
    await old.waitFor()
    expect([how, await gone.count(), await missing()]).toEqual([how, 0, []])
    // No other read takes the button away before it is pressed.
    const release = hold()
    await old.getByRole('button', { name: 'Try again' }).click()
    answerWith(null)
    release()
    await old.waitFor({ state: 'hidden' })
  }
  answerWith({ now: refusal('NOT_FOUND') })
  await readAgain(page)
  await gone.waitFor()
  expect(await old.count()).toBe(0)
  // What was removed does not come back with an answer that says nothing about it.
  answerWith({ now: refusal('INTERNAL_SERVER_ERROR') })
  await readAgain(page)
  await main.getByText('Refused.').waitFor()
  expect([await gone.count(), await old.count()]).toEqual([1, 0])
  answerWith(null)
  await readAgain(page)
  await gone.waitFor({ state: 'hidden' })
  expect(await missing()).toEqual([])
})
