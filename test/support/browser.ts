import type { Browser, BrowserContext, ConsoleMessage, Page } from 'playwright-core'
import { afterAll, afterEach, expect } from 'vitest'
import { launchChromium, newContext, type Visitor } from './chromium.ts'

/** How a page is opened. */
export interface PageOptions extends Visitor {
  /** A context that has cookies already; default: a new one, so that a page opens as a new visitor sees it. */
  readonly context?: BrowserContext
  /**
   * Whose cookies the page has: all pages of a file with the same one share a context, the browser's cache and a process, which has
   * compiled the page's scripts already. Zone, language and theme are those of the first page. Storage of a tab is the page's own.
   */
  readonly session?: NonNullable<Visitor['storageState']>
  /** The test takes the store away: the right answer is 503. */
  readonly isAway?: boolean
  /** Console errors that a test causes on purpose. */
  readonly expected?: RegExp
}

/**
 * A test shows a page for seconds. Code that V8 makes faster pays for itself in minutes, and making it takes a sixth of all that pages
 * compute in tests.
 */
const SHORT_VISITS = ['--js-flags=--no-opt --no-maglev']

/** The Chromium that all files of a worker share; it ends with the worker. */
let shared: Promise<Browser> | undefined
async function sharedBrowser(): Promise<Browser> {
  const browser = await shared
  if (browser?.isConnected() === true) return browser
  shared = launchChromium(SHORT_VISITS)
  return await shared
}

/** How a file of tests opens pages. */
export interface TestBrowser {
  /** A page in its own context. The test fails when it breaks its policy, leaves its origin, throws or logs an error. */
  open(options?: PageOptions): Promise<Page>
}

/** What Chromium says of every 4xx and lost connection; pages show those, and tests look at what they show. */
const EXPECTED = /^Failed to load resource/

/** A visitor without cookies, for pages that keep nothing between visits: as `session`, its pages share what other sessions share. */
export const ANYBODY: NonNullable<PageOptions['session']> = { cookies: [], origins: [] }

/** Opens pages of the worker's browser for a test file; each test's pages are closed and checked behind it. */
export function useBrowser(): TestBrowser {
  let contexts: BrowserContext[] = []
  let pages: Page[] = []
  let problems: string[] = []
  const sessions = new Map<PageOptions['session'], Tabs>()
  afterEach(async () => {
    const found = problems
    for (const page of pages) {
      // A request that a test passes on would fail when its page closes.
      if (!page.isClosed()) await page.unrouteAll({ behavior: 'ignoreErrors' })
      await page.close()
    }
    for (const context of contexts) await context.close()
    pages = []
    contexts = []
    problems = []
    expect(found).toEqual([])
  })
  afterAll(async () => {
    for (const { close } of sessions.values()) await close()
    sessions.clear()
  })
  return {
    open: async (options = {}) => {
      const { session, width, height } = options
      let page: Page
      if (session === undefined) {
        const context = options.context ?? (await newContext(await sharedBrowser(), options))
        if (options.context === undefined) contexts.push(context)
        page = await context.newPage()
      } else {
        const visitor = { ...options, storageState: session }
        const tabs = sessions.get(session) ?? tabsOf(sharedBrowser().then((browser) => newContext(browser, visitor)))
        sessions.set(session, tabs)
        page = await tabs.open()
        await page.setViewportSize({ width: width ?? 1280, height: height ?? 900 })
      }
      page.setDefaultTimeout(60_000)
      pages.push(page)
      evaluate(page, options, (problem) => problems.push(problem))
      return page
    },
  }
}

/** The pages of one session. */
interface Tabs {
  open(): Promise<Page>
  close(): Promise<void>
}

/**
 * Pages of a context. From the second one on, an empty document of the same origin opens them: it keeps their process alive, so that none
 * compiles the same scripts again, which is half of the work for a page. Pages do not see it: each is a tab with a history and storage of
 * its own, without an opener.
 */
function tabsOf(opening: Promise<BrowserContext>): Tabs {
  let opener: Page | null = null
  let origin: string | null = null
  let latest: Promise<unknown> = opening
  const openTab = async (): Promise<Page> => {
    const context = await opening
    if (origin !== null) opener ??= await openEmpty(context, origin)
    const page = opener === null ? await context.newPage() : await openedBy(opener)
    page.once('framenavigated', () => {
      if (page.url().startsWith('http')) origin ??= new URL(page.url()).origin
    })
    return page
  }
  return {
    open: () => {
      const page = latest.then(openTab)
      // One after the other: the opener hands out its next tab.
      latest = page.catch(() => undefined)
      return page
    },
    close: async () => (await opening).close(),
  }
}

/** An empty document that pages of this origin share a process with: their policy lets in only openers with the same one. */
async function openEmpty(context: BrowserContext, origin: string): Promise<Page> {
  const page = await context.newPage()
  const headers = { 'cross-origin-opener-policy': 'same-origin' }
  await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', headers, body: '<!doctype html>' }))
  await page.goto(origin)
  return page
}

async function openedBy(opener: Page): Promise<Page> {
  const [page] = await Promise.all([opener.waitForEvent('popup'), opener.evaluate(`void window.open('about:blank')`)])
  await page.evaluate('window.opener = null')
  return page
}

function evaluate(page: Page, { expected, isAway }: PageOptions, report: (problem: string) => void): void {
  let origin: string | null = null
  page.on('pageerror', (error) => report(`threw: ${error.message}`))
  page.on('console', (message: ConsoleMessage) => {
    const text = message.text()
    if (message.type() === 'error' && !EXPECTED.test(text) && expected?.test(text) !== true) report(`logged: ${text}`)
  })
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (!url.protocol.startsWith('http')) return
    // The first address that a test opens is the page's own.
    origin ??= url.origin
    if (url.origin !== origin) report(`asked another origin: ${url.origin}`)
  })
  page.on('response', (response) => {
    if (response.status() >= 500 && !(isAway === true && response.status() === 503))
      report(`answered ${response.status()}: ${response.url()}`)
  })
}
