import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createPaymesh, type Paymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { deepTest } from '#test/support/depth.ts'
import { enrolAuthenticator } from '#test/support/enrol-authenticator.ts'
import { logIn } from '#test/support/log-in.ts'
import { openPerson, ownWorkspace } from '#test/support/open-tenant.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'

const browser = useBrowser()
let dev: DevInfo
let shop: Paymesh
let db: Database
let receiver: WebhookReceiver

beforeAll(async () => {
  const dataDir = inject('stackDataDir')
  dev = await ownWorkspace()
  shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const { PAYMESH_MONGO_DATABASE: name = '' } = readEnvironment(dataDir) ?? {}
  db = await connectDatabase({ url: dev.mongoUrl, name, logger: createLogger({ name: 'test', level: 'silent' }) })
  receiver = await startWebhookReceiver()
})
afterAll(async () => {
  await receiver.close()
  await db.close()
})

/** A delivery that nine tries over two days could not bring: the first one is made, the others are written down. */
async function failedDelivery(endpointId: string): Promise<{ readonly id: string; readonly eventId: string }> {
  const invoice = await shop.invoices.create({ amount: '12.00', currency: 'USD' })
  const stem = `evt_${invoice.id.replaceAll('-', '')}_`
  await receiver.waitFor(({ headers }) => String(headers['webhook-id']).startsWith(stem))
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const gaveUp = { status: 'failed' as const, attempt: 9, finishedAt: new Date(), leaseToken: null }
  for (;;) {
    const tried = { endpointId, status: 'pending' as const, attempt: { $gte: 2 } }
    const row = await deliveries.findOneAndUpdate(tried, { $set: gaveUp })
    if (row !== null) return { id: row._id, eventId: row.eventId }
  }
}

test('the failed delivery is found, sent again and seen to arrive', async () => {
  receiver.answer({ kind: 'status', status: 503, body: '<script>alert(1)</script>' })
  const endpoint = await shop.webhookEndpoints.create({ url: receiver.url, events: ['invoice.created'] })
  const failed = await failedDelivery(endpoint.id)

  const page = await browser.open()
  await logIn(page, dev, dashboardPath('webhooks/deliveries', dev.workspaceId, 'test'))
  await page.getByLabel('Status', { exact: true }).selectOption('failed')
  await page.waitForURL(/status=failed/)
  await page.getByLabel('Endpoint', { exact: true }).selectOption(endpoint.id)
  await page.waitForURL(/endpoint=/)
  const row = page.locator(`[data-row-id="${failed.id}"]`)
  await row.getByText('Failed').waitFor()
  await row.getByRole('link').first().click()

  const aside = page.getByRole('complementary', { name: 'Delivery' })
  await aside
    .getByText(/returned 503/)
    .first()
    .waitFor()
  // What a stranger answered is text.
  await aside.getByText('<script>alert(1)</script>').waitFor()
  await expect
    .poll(async () => await aside.getByRole('list', { name: 'Attempts' }).getByRole('listitem').count())
    .toBeGreaterThan(0)

  receiver.answer({ kind: 'status', status: 200 })
  const before = receiver.requests.length
  await aside.getByRole('button', { name: 'Resend now' }).dblclick()
  const arrived = await receiver.waitForCount(before + 1)
  expect(arrived.at(-1)?.headers['webhook-id']).toBe(failed.eventId)
  await aside.getByRole('link', { name: 'the newest delivery of this event' }).click()
  await aside.getByText('Delivered', { exact: true }).waitFor()
  // Guarantee: a double click sent it once.
  expect(await db.collection(WEBHOOK_DELIVERIES).countDocuments({ eventId: failed.eventId })).toBe(2)
})

deepTest('an endpoint is tested, paused and enabled again', async () => {
  receiver.answer({ kind: 'status', status: 200 })
  const endpoint = await shop.webhookEndpoints.create({ url: receiver.url, events: ['invoice.paid'] })
  const page = await browser.open()
  const path = dashboardPath(`webhooks/endpoints/${endpoint.id}`, dev.workspaceId, 'test')
  const owner = await openPerson(inject('stackDataDir'), { workspaceId: dev.workspaceId, role: 'owner' })
  await logIn(page, { ...dev, ownerEmail: owner.email, ownerPassword: owner.password })
  await enrolAuthenticator(page, owner.password)
  await page.goto(`${dev.adminUrl}${path}`)
  const aside = page.getByRole('complementary', { name: 'Endpoint' })
  await aside.getByRole('button', { name: 'Send test event' }).click()
  const delivery = page.getByRole('complementary', { name: 'Delivery' })
  await delivery.getByRole('heading', { name: 'webhook.test' }).waitFor()
  await delivery.getByText('Delivered', { exact: true }).waitFor()
  await page.goto(`${dev.adminUrl}${path}`)
  for (const [button, word] of [
    ['Pause endpoint', 'Paused'],
    ['Resume endpoint', 'Healthy'],
  ] as const) {
    await aside.getByRole('button', { name: button }).click()
    await page.getByRole('dialog', { name: button }).getByRole('button', { name: button }).click()
    await aside.getByText(word, { exact: true }).waitFor()
  }
})
