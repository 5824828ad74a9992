import type { Browser, BrowserContext, ConsoleMessage, Page } from 'playwright-core'
import { afterAll, afterEach, expect } from 'vitest'
import { launchChromium, newContext, type Visitor } from './chromium.ts'

/** How a page is opened. */
export interface PageOptions extends Visitor {
  /** A context that has cookies already; default: a new one, so that a page opens as a new visitor sees it. */
  readonly context?: BrowserContext
  /** Whose cookies the page has: all pages of a file with the same one share a context, and with it the browser's cache. */
  readonly session?: NonNullable<Visitor['storageState']>
  /** Console errors that a test causes on purpose. */
  readonly expected?: RegExp
}

/** The Chromium that all files of a worker share; it ends with the worker. */
let shared: Promise<Browser> | undefined
async function sharedBrowser(): Promise<Browser> {
  const browser = await shared
  if (browser?.isConnected() === true) return browser
  shared = launchChromium()
  return await shared
}

/** How a file of tests opens pages. */
export interface TestBrowser {
  /** A page in a context of its own. The test fails when it breaks its policy, leaves its origin, throws or logs an error. */
  open(options?: PageOptions): Promise<Page>
}

/** What Chromium says of every 4xx and lost connection; pages show those, and tests look at what they show. */
const EXPECTED = /^Failed to load resource/

/** Opens pages of the worker's browser for a test file; each test's pages are closed and checked behind it. */
export function useBrowser(): TestBrowser {
  let contexts: BrowserContext[] = []
  let pages: Page[] = []
  let problems: string[] = []
  const sessions = new Map<PageOptions['session'], BrowserContext>()
  afterEach(async () => {
    const found = problems
    for (const page of pages) await page.close()
    for (const context of contexts) await context.close()
    pages = []
    contexts = []
    problems = []
    expect(found).toEqual([])
  })
  afterAll(async () => {
    for (const context of sessions.values()) await context.close()
    sessions.clear()
  })
  return {
    open: async (options = {}) => {
      const browser = await sharedBrowser()
      const { session } = options
      const context =
        options.context ??
        sessions.get(session) ??
        (await newContext(browser, session === undefined ? options : { ...options, storageState: session }))
      if (session !== undefined) sessions.set(session, context)
      else if (options.context === undefined) contexts.push(context)
      const page = await context.newPage()
      pages.push(page)
      const { width, height } = options
      if (session !== undefined) await page.setViewportSize({ width: width ?? 1280, height: height ?? 900 })
      evaluate(page, options.expected, (problem) => problems.push(problem))
      return page
    },
  }
}

function evaluate(page: Page, expected: RegExp | undefined, report: (problem: string) => void): void {
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
