import type { Browser, BrowserContext, ConsoleMessage, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { launchChromium } from './chromium.ts'

/** How a page is looked at. */
export interface PageOptions {
  /** Default 1280. */
  readonly width?: number
  /** Default 900. */
  readonly height?: number
  /** Default light. */
  readonly theme?: 'light' | 'dark'
  /** Zone of the browser; default America/Santo_Domingo. */
  readonly zone?: string
  /** Language of the browser; default en-US. */
  readonly locale?: string
  /** Default: none, so that a page opens as a new visitor sees it. */
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

/** A visitor's browser: no history, no cookies. */
export async function newContext(browser: Browser, options: PageOptions): Promise<BrowserContext> {
  return await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 900 },
    colorScheme: options.theme ?? 'light',
    timezoneId: options.zone ?? 'America/Santo_Domingo',
    locale: options.locale ?? 'en-US',
    reducedMotion: 'reduce',
  })
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

/** Logs the seeded owner in and opens the dashboard's path. */
export async function logIn(page: Page, dev: DevInfo, path = '/'): Promise<void> {
  if (dev.adminUrl === null || dev.ownerEmail === null || dev.ownerPassword === null)
    throw new Error('no owner is seeded')
  await page.goto(`${dev.adminUrl}/login`)
  const status = await page.evaluate(
    async (input) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch('/trpc/auth.logIn', { method: 'POST', headers, body: JSON.stringify(input) })
      return answer.status
    },
    { email: dev.ownerEmail, password: dev.ownerPassword },
  )
  if (status !== 200) throw new Error(`the log-in was answered with ${status}`)
  await page.goto(`${dev.adminUrl}${path}`)
}
