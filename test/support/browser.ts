import type { Browser, BrowserContext, ConsoleMessage, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { launchChromium, newContext, type Visitor } from './chromium.ts'

/** How a page is opened. */
export interface PageOptions extends Visitor {
  /** A context that has cookies already; default: a new one, so that a page opens as a new visitor sees it. */
  readonly context?: BrowserContext
  /** Console errors that a test causes on purpose. */
  readonly expected?: RegExp
}

/** One Chromium for a file of tests. */
export interface TestBrowser {
  /** A page in a context of its own. The test fails when it breaks its policy, leaves its origin, throws or logs an error. */
  open(options?: PageOptions): Promise<Page>
}

/** What Chromium says of every 4xx and lost connection; pages show those, and tests look at what they show. */
const EXPECTED = /^Failed to load resource/

/** Opens the browser in hooks of a test file; each test's pages are closed and judged behind it. */
export function useBrowser(): TestBrowser {
  let browser: Browser | undefined
  let contexts: BrowserContext[] = []
  let problems: string[] = []
  beforeAll(async () => {
    browser = await launchChromium()
  })
  afterEach(async () => {
    const found = problems
    for (const context of contexts) await context.close()
    contexts = []
    problems = []
    expect(found).toEqual([])
  })
  afterAll(async () => {
    await browser?.close()
  })
  return {
    open: async (options = {}) => {
      if (browser === undefined) throw new Error('the browser is open only inside hooks and tests')
      const context = options.context ?? (await newContext(browser, options))
      if (options.context === undefined) contexts.push(context)
      const page = await context.newPage()
      judge(page, options.expected, (problem) => problems.push(problem))
      return page
    },
  }
}

function judge(page: Page, expected: RegExp | undefined, report: (problem: string) => void): void {
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
    if (response.status() >= 500) report(`answered ${response.status()}: ${response.url()}`)
  })
}
