import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import sharp from 'sharp'
import { type DevInfo, readDevInfo } from '#scripts/start/dev-info.ts'
import { startStack } from '#scripts/start/stack.ts'
import { settled } from '#test/support/accessibility.ts'
import { launchChromium, newContext, type Visitor } from '#test/support/chromium.ts'
import { DASHBOARD_PAGES, dashboardPath } from '#test/support/dashboard-pages.ts'
import { logIn } from '#test/support/log-in.ts'
import { fillDemo } from './fill-demo.ts'

/** Larger pictures lose some of their detail. */
const BYTES_MAX = 60_000
/** Windows by the name that a picture ends with. */
const DESK = { end: '', width: 1280, height: 800 }
const PHONE = { end: '-phone', width: 390, height: 844 }
const WIDE = { end: '-wide', width: 1440, height: 900 }
const THEMES = ['light', 'dark'] as const
/** A busy machine takes long for a page. */
const PATIENCE_MS = 300_000
/** Pages that look better in live mode: there the demo has only history. */
const LIVE_PAGES = { 'overview-live': 'overview', 'invoices-live': 'invoices' }

const say = (line: string) => void process.stderr.write(`${line}\n`)

/** Where pictures are written, of which installation, and whether of every width; `data` absent: a new installation that ends with the run. */
export interface PictureOptions {
  readonly data?: string | undefined
  readonly folder: string
  readonly all: boolean
}

/** Takes a picture of every page in both themes, and writes it as WebP. Throws when nothing runs on the data folder that was given. */
export async function takePictures({ data, folder, all }: PictureOptions): Promise<void> {
  const dataDir = data ?? mkdtempSync(join(tmpdir(), 'paymesh-pictures-'))
  mkdirSync(folder, { recursive: true })
  const stack = data === undefined ? await startStack({ dataDir, report: say }) : null
  const dev = stack?.dev ?? readDevInfo(dataDir)
  if (dev === null) throw new Error(`nothing runs on ${dataDir}`)
  const browser = await launchChromium()
  try {
    const demo = await fillDemo(dataDir, dev)
    for (const theme of THEMES) {
      for (const size of all ? [DESK, PHONE, WIDE] : [DESK])
        await pictureDashboard(browser, theme, size, dev, demo.pages, folder)
      for (const size of all ? [DESK, PHONE, WIDE] : [DESK, PHONE])
        await pictureCheckout(browser, theme, size, demo.checkout, folder)
    }
  } finally {
    await browser.close()
    await stack?.stop()
    if (stack !== null) rmSync(dataDir, { recursive: true, force: true })
  }
}

async function pictureDashboard(
  on: Browser,
  theme: (typeof THEMES)[number],
  { end, width, height }: typeof DESK,
  seeded: DevInfo,
  items: Readonly<Record<string, string>>,
  folder: string,
) {
  const page = await open(on, { theme, width, height })
  const { adminUrl, workspaceId } = seeded
  await page.goto(`${adminUrl}/login`)
  await take(page, `dashboard-log-in${end}.${theme}`, folder)
  await logIn(page, seeded)
  for (const [name, path] of Object.entries({ ...DASHBOARD_PAGES, ...items })) {
    await page.goto(`${adminUrl}${dashboardPath(path, workspaceId, 'test')}`)
    await take(page, `dashboard-${name}${end}.${theme}`, folder)
  }
  for (const [name, path] of Object.entries(LIVE_PAGES)) {
    await page.goto(`${adminUrl}${dashboardPath(path, workspaceId, 'live')}`)
    await take(page, `dashboard-${name}${end}.${theme}`, folder)
  }
}

async function pictureCheckout(
  on: Browser,
  theme: (typeof THEMES)[number],
  { end, width, height }: typeof DESK,
  states: Readonly<Record<string, string>>,
  folder: string,
) {
  const page = await open(on, { theme, width, height })
  for (const [name, url] of Object.entries(states)) {
    await page.goto(url)
    await take(page, `checkout-${name}${end}.${theme}`, folder)
  }
}

async function open(on: Browser, visitor: Visitor): Promise<Page> {
  const page = await (await newContext(on, visitor)).newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  return page
}

async function take(page: Page, name: string, folder: string): Promise<void> {
  await settled(page)
  // Lists and figures of other cards load after the first.
  await page.waitForLoadState('networkidle', { timeout: 2_000 }).catch(() => undefined)
  const file = join(folder, `${name}.webp`)
  const picture = sharp(await page.screenshot())
  const exact = await picture.webp({ lossless: true }).toBuffer()
  // Lossless text is sharper and mostly smaller.
  const bytes = exact.length <= BYTES_MAX ? exact : await picture.webp({ quality: 88 }).toBuffer()
  writeFileSync(file, bytes)
  say(`${file} ${(bytes.length / 1_024).toFixed(0)} KB`)
}
