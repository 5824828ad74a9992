import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { createPaymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { startStack } from '#scripts/start/stack.ts'
import { launchChromium, newContext } from '#test/support/chromium.ts'
import { logIn } from '#test/support/log-in.ts'
import type { BenchOptions } from './options.ts'
import { percentile } from './statistics.ts'

/** "Slow 4G" and CPU × 4 as Lighthouse applies them with DevTools (https://github.com/GoogleChrome/lighthouse/blob/main/docs/throttling.md). */
const SLOW = { latencyMs: 562.5, bytesPerSecond: (1_474.56 * 1_000) / 8, cpu: 4 }
/** No task of 50 ms began for this long: the page answers to a person. */
const QUIET_MS = 1_000

/** A page and what shows that a person can use it. */
interface MeasuredPage {
  readonly name: string
  readonly url: string
  readonly ready: string
  readonly context: Visitor
}
type Visitor = Awaited<ReturnType<BrowserContext['storageState']>> | null

/** One load. All times in ms since the navigation began. */
interface Load {
  readonly bytes: number
  readonly lcp: number
  readonly interactive: number
  /** Processor time of the page's main thread, until its data is shown and in all; other processes of the machine do not change it. */
  readonly cpuToData: number
  readonly cpu: number
}

/**
 * Loads pages of a new installation with an empty cache, on a fast line and then as on a slow phone. `lcp` is the largest contentful
 * paint, `interactive` the end of the last task over 50 ms (or the time at which `ready` is shown, if that is later), `cpu` the time that
 * the main thread worked, `to data` that part of it before `ready` was shown. Each is the median of `rounds`.
 */
export async function benchPages({ rounds, print }: BenchOptions): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-pages-'))
  const stack = await startStack({ dataDir, networks: ['ethereum'], report: print })
  const browser = await launchChromium()
  try {
    const pages = await pagesOf(browser, stack.dev)
    print('page                 transferred   fast: LCP  interactive  CPU to data      CPU     slow: LCP  interactive')
    for (const page of pages) {
      const fast = await medianLoad(browser, page, false, rounds)
      const slow = await medianLoad(browser, page, true, rounds)
      const cells = [
        page.name.padEnd(20),
        `${Math.round(fast.bytes / 1_000)} KB`.padStart(11),
        seconds(fast.lcp).padStart(12),
        seconds(fast.interactive).padStart(12),
        `${Math.round(fast.cpuToData)} ms`.padStart(12),
        `${Math.round(fast.cpu)} ms`.padStart(9),
        seconds(slow.lcp).padStart(12),
        seconds(slow.interactive).padStart(12),
      ]
      print(cells.join(' '))
    }
  } finally {
    await browser.close()
    await stack.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

async function pagesOf(browser: Browser, dev: DevInfo): Promise<readonly MeasuredPage[]> {
  const context = await newContext(browser, {})
  const page = await context.newPage()
  await logIn(page, dev)
  const member = await context.storageState()
  await context.close()
  const shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const open = await shop.invoices.create({ amount: '25.00', currency: 'USD' })
  const locked = await shop.invoices.create({ amount: '25.00', currency: 'USD', asset: 'usdt_ethereum' })
  const at = (path: string) => `${dev.adminUrl}/${dev.workspaceId}/test/${path}`
  return [
    { name: 'checkout, pick', url: open.urls.checkout, ready: '.coin button', context: null },
    { name: 'checkout, pay', url: locked.urls.checkout, ready: '.rows .value', context: null },
    { name: 'log-in', url: `${dev.adminUrl}/login`, ready: 'input[type=password]', context: null },
    { name: 'overview', url: at('overview'), ready: '.pm-figure-value, .pm-first-steps li', context: member },
    { name: 'invoices', url: at('invoices'), ready: 'main [data-row-id]', context: member },
  ]
}

async function medianLoad(browser: Browser, page: MeasuredPage, isSlow: boolean, rounds: number): Promise<Load> {
  const loads: Load[] = []
  for (let round = 0; round < rounds; round += 1) loads.push(await load(browser, page, isSlow))
  const of = (name: keyof Load) =>
    percentile(
      loads.map((one) => one[name]),
      0.5,
    )
  return {
    bytes: of('bytes'),
    lcp: of('lcp'),
    interactive: of('interactive'),
    cpuToData: of('cpuToData'),
    cpu: of('cpu'),
  }
}

/** Collects paints and long tasks inside the page, before its own code runs. */
const OBSERVE = `
  window.lcpMs = 0; window.busyUntilMs = 0
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.lcpMs = entry.startTime })
    .observe({ type: 'largest-contentful-paint', buffered: true })
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.busyUntilMs = entry.startTime + entry.duration })
    .observe({ type: 'longtask', buffered: true })
`

async function load(
  browser: Browser,
  { url, ready, context: storageState }: MeasuredPage,
  isSlow: boolean,
): Promise<Load> {
  const context = await newContext(browser, storageState === null ? {} : { storageState })
  try {
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    await page.addInitScript(OBSERVE)
    const bytes = countBytes(session)
    await session.send('Network.enable')
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    if (isSlow) await throttle(session)
    await page.goto(url, { timeout: 120_000 })
    await page.locator(ready).first().waitFor({ timeout: 120_000 })
    const cpuToData = await processorMs(session)
    const readyAt = (await page.evaluate('performance.now()')) as number
    await isQuiet(page, readyAt)
    const cpu = await processorMs(session)
    const lcp = (await page.evaluate('window.lcpMs')) as number
    const busyUntil = (await page.evaluate('window.busyUntilMs')) as number
    return { bytes: bytes(), lcp, interactive: Math.max(readyAt, busyUntil), cpuToData, cpu }
  } finally {
    await context.close()
  }
}

async function processorMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000
}

/** Resolves when the page had no long task for a second; the policies of the pages forbid to wait inside of them. */
async function isQuiet(page: Page, readyAt: number): Promise<void> {
  for (;;) {
    const quietMs = (await page.evaluate(`performance.now() - Math.max(window.busyUntilMs, ${readyAt})`)) as number
    if (quietMs > QUIET_MS) return
    await page.waitForTimeout(QUIET_MS - quietMs + 10)
  }
}

function countBytes(session: CDPSession): () => number {
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  return () => bytes
}

async function throttle(session: CDPSession): Promise<void> {
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: SLOW.latencyMs,
    downloadThroughput: SLOW.bytesPerSecond,
    uploadThroughput: SLOW.bytesPerSecond / 2,
  })
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOW.cpu })
}
