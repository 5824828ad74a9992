import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { readEnvironment } from '#scripts/start/environment.ts'
import { type Stack, startStack } from '#scripts/start/stack.ts'
import { connectDatabase } from '#shared/db/connection/connect.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { axeViolations, settled, sidewaysPixels } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { logIn } from '#test/support/log-in.ts'
import { sharedInstallation } from '#test/support/shared-installation.ts'

/** Three installations start one after the other. */
const SLOW_MACHINE_MS = 900_000
const DATABASE = `paymesh_scanning_${process.pid}`
/** The network whose settings change; the other network keeps its own node. */
const ID = 'test:base'
const OWN = 'test:ethereum'
const QUOTA = { perMonth: 1_000_000, unit: 'calls' }

const browser = useBrowser()
const home = mkdtempSync(join(tmpdir(), 'paymesh-scanning-'))
let mongoUrl = ''
let nodes: { readonly base: object; readonly ethereum: object }
let stack: Stack | undefined

beforeAll(() => {
  mongoUrl = sharedInstallation().mongoUrl
  const { PAYMESH_NETWORKS = '{}' } = readEnvironment(inject('stackDataDir')) ?? {}
  nodes = JSON.parse(PAYMESH_NETWORKS).test
})
afterAll(async () => {
  await stack?.stop()
  const db = await connectDatabase({
    url: mongoUrl,
    name: DATABASE,
    logger: createLogger({ name: 'test', level: 'silent' }),
  })
  await db.connection.dropDatabase()
  await db.close()
  rmSync(home, { recursive: true, force: true })
})

/** The installation of this file, with these settings of the network, and the page of a chain. */
async function openWith(settings: object, env: Readonly<Record<string, string>> = {}, chain = ID): Promise<Page> {
  await stack?.stop()
  const networks = JSON.stringify({ test: { base: { ...nodes.base, ...settings }, ethereum: nodes.ethereum } })
  const started = await startStack({
    ...{ dataDir: join(home, 'data'), serve: true, networks: [], mongoUrl, database: DATABASE },
    env: { PAYMESH_NETWORKS: networks, ...env },
  })
  stack = started
  const page = await browser.open({ width: 1440 })
  await logIn(page, started.dev, pathOf(chain))
  return page
}

const pathOf = (chain: string) => `/system/chains?chain=${encodeURIComponent(chain)}`
const scanningOf = (page: Page) =>
  page
    .getByRole('complementary', { name: 'Chain' })
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: 'Scanning' }) })

async function looksRight(page: Page): Promise<void> {
  await settled(page)
  expect(await axeViolations(page)).toEqual([])
  expect(await sidewaysPixels(page)).toBe(0)
}

// Guarantee: an operator reads in which mode a network is scanned, why, what that costs, and that a change of the mode is pending.
test(
  'the page of a chain says how it is scanned and why, what its node is asked, and that the mode changes',
  async () => {
    let page = await openWith({ quota: QUOTA }, {}, OWN)
    let scanning = scanningOf(page)
    await scanning.getByText('Full: every block', { exact: true }).waitFor()
    await scanning.getByText('Every block is read as soon as the node has it.').waitFor()
    await scanning.getByText(/^The default, because the node is your own \(127\.0\.0\.1:\d+\)\./).waitFor()
    await looksRight(page)

    // The node is paid for by the call.
    await page.goto(new URL(pathOf(ID), page.url()).href)
    scanning = scanningOf(page)
    await scanning.getByText('Thrifty, resting', { exact: true }).waitFor()
    await scanning.getByText(/^No open invoice waits for money on this network/).waitFor()
    await scanning.getByText(/^The default, because calls to 127\.0\.0\.1:\d+ count against a quota\./).waitFor()
    for (const name of ['Open payment methods', 'Next look', 'Invoices ended in the last day', 'All addresses']) {
      await scanning.getByText(name, { exact: true }).waitFor()
    }
    const costs = page.getByRole('region', { name: 'Cost of nodes' }).locator(`[data-row-id^="${ID}:127.0.0.1:"]`)
    await costs.waitFor()
    // Calls today and this month, and as many units.
    await expect.poll(async () => await costs.textContent()).toMatch(/:\d+([\d,]+)\1\1\1calls/)
    await expect.poll(async () => await costs.textContent()).toMatch(/% of 1,000,000 calls$/)
    const row = page.locator(`[data-row-id="${ID}"]`)
    // Idle is not lagging.
    await row.getByText('resting', { exact: true }).waitFor()
    await looksRight(page)

    // The settings change, and no scanner was started with them.
    page = await openWith({ quota: QUOTA, source: 'full' }, { CHAINS: 'ethereum' })
    scanning = scanningOf(page)
    await scanning.getByText('Thrifty, resting', { exact: true }).waitFor()
    await scanning
      .getByText(
        'The settings choose full mode. The setting "source" of the network says so. The scanner changes to it when it is started with these settings.',
      )
      .waitFor()
    await looksRight(page)

    page = await openWith({ quota: QUOTA, source: 'full' })
    await scanningOf(page).getByText('Full: every block', { exact: true }).waitFor()
  },
  SLOW_MACHINE_MS,
)
