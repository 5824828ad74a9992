// `npm run screenshots`: every page of the dashboard and the checkout in both themes, with an afternoon of trade, in docs/screenshots/.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { type DevInfo, readDevInfo } from '#scripts/start/dev-info.ts'
import { startStack } from '#scripts/start/stack.ts'
import { settled } from '#test/support/accessibility.ts'
import { launchChromium, newContext, type Visitor } from '#test/support/chromium.ts'
import { DASHBOARD_PAGES, dashboardPath } from '#test/support/dashboard-pages.ts'
import { logIn } from '#test/support/log-in.ts'
import { fillDemo } from './screenshots/fill-demo.ts'

const FOLDER = 'docs/screenshots'
const THEMES = ['light', 'dark'] as const
/** Pages that look better in live mode: there the demo has only history. */
const LIVE_PAGES = { 'overview-live': 'overview', 'invoices-live': 'invoices' }

if (process.argv.includes('--help')) {
  process.stdout.write(
    'npm run screenshots [-- --data DIR]: pictures of every page in both themes, in docs/screenshots/,\n' +
      'of a new installation or of the development one that runs on DIR\n',
  )
  process.exit(0)
}

const say = (line: string) => void process.stderr.write(`${line}\n`)
const { data } = parseArgs({ options: { data: { type: 'string' } } }).values
const dataDir = data ?? mkdtempSync(join(tmpdir(), 'paymesh-pictures-'))
mkdirSync(FOLDER, { recursive: true })
const stack = data === undefined ? await startStack({ dataDir, report: say }) : null
const dev = stack?.dev ?? readDevInfo(dataDir)
if (dev === null) throw new Error(`nothing runs on ${dataDir}`)
const browser = await launchChromium()
try {
  const demo = await fillDemo(dataDir, dev)
  for (const theme of THEMES) {
    await pictureDashboard(browser, theme, dev, demo.pages)
    await pictureCheckout(browser, theme, demo.checkout)
  }
} finally {
  await browser.close()
  await stack?.stop()
  if (stack !== null) rmSync(dataDir, { recursive: true, force: true })
}

async function pictureDashboard(
  on: Browser,
  theme: (typeof THEMES)[number],
  seeded: DevInfo,
  items: Readonly<Record<string, string>>,
) {
  const page = await open(on, { theme, width: 1280, height: 800 })
  const { adminUrl, workspaceId } = seeded
  await page.goto(`${adminUrl}/login`)
  await take(page, `dashboard-log-in.${theme}`)
  await logIn(page, seeded)
  for (const [name, path] of Object.entries({ ...DASHBOARD_PAGES, ...items })) {
    await page.goto(`${adminUrl}${dashboardPath(path, workspaceId, 'test')}`)
    await take(page, `dashboard-${name}.${theme}`)
  }
  for (const [name, path] of Object.entries(LIVE_PAGES)) {
    await page.goto(`${adminUrl}${dashboardPath(path, workspaceId, 'live')}`)
    await take(page, `dashboard-${name}.${theme}`)
  }
}

async function pictureCheckout(on: Browser, theme: (typeof THEMES)[number], states: Readonly<Record<string, string>>) {
  const wide = await open(on, { theme, width: 1280, height: 800 })
  const phone = await open(on, { theme, width: 375, height: 760 })
  for (const [name, url] of Object.entries(states)) {
    await wide.goto(url)
    await take(wide, `checkout-${name}.${theme}`)
    await phone.goto(url)
    await take(phone, `checkout-${name}-phone.${theme}`)
  }
}

async function open(on: Browser, visitor: Visitor): Promise<Page> {
  return await (await newContext(on, visitor)).newPage()
}

async function take(page: Page, name: string): Promise<void> {
  await settled(page)
  // Lists and figures of other cards load after the first.
  await page.waitForLoadState('networkidle', { timeout: 2_000 }).catch(() => undefined)
  const file = join(FOLDER, `${name}.webp`)
  const browserSession = await page.context().newCDPSession(page)
  // At quality 100 Chromium writes lossless WebP, a third of its PNG.
  const { data: picture } = await browserSession.send('Page.captureScreenshot', { format: 'webp', quality: 100 })
  await browserSession.detach()
  const bytes = Buffer.from(picture, 'base64')
  writeFileSync(file, bytes)
  say(`${file} ${(bytes.length / 1_024).toFixed(0)} KB`)
}
