import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createPaymesh, type Paymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import type { NodeCosts } from '#shared/contracts/node-costs.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { CHAIN_CURSORS } from '#shared/db/scanning/cursor-model.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { axeViolations, settled, sidewaysPixels } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { deepTest } from '#test/support/depth.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'
import { runCli } from '#test/support/world.ts'

const MINUTE = 60_000
/** A network that no other file pays on. */
const NETWORK = 'polygon'
const ID = `test:${NETWORK}`
const browser = useBrowser()
const OWNER = 'browser-test'
/** A lease that ends much later than a scanner's would count as one of a wrong clock. */
const LEASE_MS = 60_000
const RENEW_MS = 5_000

let dev: DevInfo
let dataDir: string
let shop: Paymesh
let db: Database
let renewing: NodeJS.Timeout | undefined

beforeAll(async () => {
  dataDir = inject('stackDataDir')
  dev = await ownWorkspace()
  shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const { PAYMESH_MONGO_DATABASE: name = '' } = readEnvironment(dataDir) ?? {}
  db = await connectDatabase({ url: dev.mongoUrl, name, logger: createLogger({ name: 'test', level: 'silent' }) })
})
afterAll(async () => {
  await letGoOn()
  await db.close()
})

/** Takes the scan of the local Polygon over, as a scanner on another machine would, and fails on the next block for five minutes. */
async function failOnNextBlock(): Promise<ChainCursor> {
  const held = { owner: OWNER, until: leaseEnd() }
  await db.collection(CHAIN_CURSORS).updateOne({ _id: ID }, { $set: { lease: held }, $inc: { leaseEpoch: 1 } })
  renewing = setInterval(() => void renew(), RENEW_MS)
  const cursors = createCursorRepository(db)
  const cursor = await cursors.find('test', NETWORK)
  if (cursor?.lease == null) throw new Error('no cursor')
  const trouble = {
    ...{ kind: 'node' as const, height: cursor.height + 1, hash: null, method: 'trace_block', tries: 61 },
    ...{ host: 'node.example:8545', reason: 'trace_block at node.example:8545: ResponseExceededMaxSizeError' },
    // Failures go on while the test does.
    ...{ firstAt: Date.now() - 5 * MINUTE, lastAt: Date.now() + 5 * MINUTE },
  }
  const head = { headHeight: cursor.height + 7, headSeenAt: Date.now() + 5 * MINUTE }
  const { hash, lease } = cursor
  await cursors.advance('test', NETWORK, { hash, epoch: lease.epoch }, { trouble, ...head })
  return cursor
}

const leaseEnd = () => new Date(Date.now() + LEASE_MS)
const renew = () =>
  db.collection(CHAIN_CURSORS).updateOne({ _id: ID, 'lease.owner': OWNER }, { $set: { 'lease.until': leaseEnd() } })

async function letGoOn(): Promise<void> {
  clearInterval(renewing)
  await db.collection(CHAIN_CURSORS).updateOne({ _id: ID, 'lease.owner': OWNER }, { $set: { lease: null } })
}

/** An unpaid invoice whose time ends now, behind the last block that was read. */
async function overdueInvoice(): Promise<string> {
  const { id } = await shop.invoices.create({ amount: '25.00', currency: 'USD', asset: 'usdt_polygon' })
  const over = new Date()
  await db.collection(INVOICES).updateOne({ _id: id }, { $set: { expiresAt: over, nextActionAt: over } })
  return id
}

const inbox = () => db.collection(EXCEPTIONS).findOne({ _id: `halted_chain:${ID}`, open: true })

// Guarantee: an operator sees which block, which call and why, and lets deadlines pass only after reading what that means.
test('a network that fails on one block is named with block, method and cause, and its deadlines are released by hand', async () => {
  const { height } = await failOnNextBlock()
  const invoiceId = await overdueInvoice()
  const block = (height + 1).toLocaleString('en-US')

  const page = await browser.open({ width: 1440 })
  await logIn(page, dev, '/system/chains')
  const note = page.getByText(/is stuck at block/)
  await note.waitFor()
  const text = (await note.locator('..').textContent()) ?? ''
  expect(text).toContain(`Block ${height + 1} cannot be read: trace_block at node.example:8545`)
  expect(text).toContain('ResponseExceededMaxSizeError')
  expect(text).toContain('Its invoices do not expire until this is fixed.')
  const row = page.locator(`[data-row-id="${ID}"]`)
  await expect.poll(async () => await row.textContent()).toMatch(/Stuck.*7 blocks/)

  await row.click()
  const aside = page.getByRole('complementary', { name: 'Chain' })
  await aside.getByRole('heading', { name: 'Problem' }).waitFor()
  for (const part of [block, 'trace_block', 'node.example:8545']) {
    await aside.getByText(part, { exact: true }).first().waitFor()
  }
  await aside.getByText(/^1 open invoice on .* is past the deadline but cannot expire yet\./).waitFor()
  await settled(page)
  expect(await axeViolations(page)).toEqual([])
  expect(await sidewaysPixels(page)).toBe(0)

  await aside.getByRole('button', { name: 'Release deadlines' }).click()
  const dialog = page.getByRole('dialog', { name: 'Release deadlines' })
  await dialog.getByText(/^1 open invoice with a deadline up to .* will expire/).waitFor()
  await dialog.getByText(/some of these invoices may be paid/).waitFor()
  const confirm = dialog.getByRole('button', { name: 'Release deadlines' })
  expect(await confirm.isDisabled()).toBe(true)
  await dialog.getByLabel('Reason').fill('The provider cannot trace this block today.')
  expect((await shop.invoices.get(invoiceId)).status).toBe('pending')
  await confirm.click()
  await aside.getByText(/^Released up to /).waitFor()
  await expect.poll(async () => (await shop.invoices.get(invoiceId)).status, { timeout: 20_000 }).toBe('expired')

  const audit = db.connection.collection('audit_log')
  expect(await audit.findOne({ subject: ID, action: 'chain.deadlines_released' })).toMatchObject({
    actor: `user:${dev.ownerEmail}`,
    detail: { reason: 'The provider cannot trace this block today.', block: height, invoices_waiting: 1 },
  })
  await expect
    .poll(async () => (await inbox())?.detail, { timeout: 20_000 })
    .toContain(`Block ${height + 1} cannot be read`)
  const { items } = await runCli<{ items: readonly { network: string }[] }>(dataDir, ['chain', 'status'])
  expect(items.find(({ network }) => network === NETWORK)).toMatchObject({
    ...{ status: 'stuck', lagBlocks: 7, trouble: { method: 'trace_block', height: height + 1 } },
  })

  await letGoOn()
  await expect.poll(async () => await row.textContent(), { timeout: 60_000 }).toContain('Live')
  await expect.poll(inbox, { timeout: 30_000 }).toBeNull()
  expect(await page.getByText(/is stuck at block/).count()).toBe(0)
})

// Guarantee: what nodes are asked is a figure that operators see, on the page and on the command line alike.
deepTest('the calls to each network’s node are counted, shown and printed', async () => {
  const page = await browser.open({ width: 1440 })
  await logIn(page, dev, '/system/chains')
  const costs = page.getByRole('region', { name: 'Cost of nodes' })
  const row = costs.locator('[data-row-id^="test:polygon:127.0.0.1:"]')
  await row.waitFor()
  expect(await row.textContent()).toMatch(/^Polygontest mode127\.0\.0\.1:\d+[\d,]+/)
  const costOf = async () => {
    const { providers } = await runCli<NodeCosts>(dataDir, ['chain', 'status'])
    return providers.find(({ network }) => network === NETWORK)
  }
  // A day may have begun a moment ago.
  await expect.poll(async () => (await costOf())?.today.calls).toBeGreaterThan(10)
  const cost = await costOf()
  expect(cost?.unit).toBe('calls')
  expect(cost?.today.bytes).toBeGreaterThan(1_000)
  await settled(page)
  expect(await axeViolations(page)).toEqual([])
  expect(await sidewaysPixels(page)).toBe(0)
})
