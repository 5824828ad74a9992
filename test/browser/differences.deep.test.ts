import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createPaymesh, type Paymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { axeViolations, settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'

const browser = useBrowser()
let dev: DevInfo
let shop: Paymesh
let receiver: WebhookReceiver
let db: Database

beforeAll(async () => {
  dev = await ownWorkspace()
  shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const { PAYMESH_MONGO_DATABASE: name = '' } = readEnvironment(inject('stackDataDir')) ?? {}
  db = await connectDatabase({ url: dev.mongoUrl, name, logger: createLogger({ name: 'test', level: 'silent' }) })
  receiver = await startWebhookReceiver()
})
afterAll(async () => {
  await receiver.close()
  await db.close()
})

test('two attempts are compared by answer and body, and two events of an invoice by what changed in the body', async () => {
  const busy = { kind: 'status', status: 503, body: '{"error":"busy","queue":7}' } as const
  receiver.answer(busy)
  const { id: endpointId } = await shop.webhookEndpoints.create({
    ...{ url: receiver.url, events: ['invoice.created', 'invoice.pending'] },
  })
  const invoice = await shop.invoices.create({ amount: '12.00', currency: 'USD', asset: 'usdt_ethereum' })
  await receiver.waitForCount(2)
  // One of the two is accepted from now on, the other one never.
  receiver.answer(({ body }) =>
    body.includes('"invoice.created"') ? busy : { kind: 'status', status: 200, body: '{"queue":8}' },
  )
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const retried = { endpointId, eventType: 'invoice.pending' as const }
  await expect
    .poll(async () => {
      const waiting = { ...retried, status: 'pending' as const, attempt: { $gte: 1 }, leaseToken: null }
      await deliveries.updateOne(waiting, { $set: { dueAt: new Date() } })
      return (await deliveries.findOne(retried))?.status
    })
    .toBe('succeeded')
  const delivery = await deliveries.findOne(retried)

  const page = await browser.open()
  await logIn(page, dev, dashboardPath(`webhooks/deliveries/${delivery?._id}`, dev.workspaceId, 'test'))
  await settled(page)
  const aside = page.getByRole('complementary', { name: 'Delivery' })
  const attempts = aside.getByRole('table', { name: 'Differences between attempts' })
  await attempts.getByRole('row', { name: 'Response 503 200' }).waitFor()
  await attempts.getByRole('row', { name: 'Response error "busy" –' }).waitFor()
  await attempts.getByRole('row', { name: 'Response queue 7 8' }).waitFor()
  await aside.getByText(/The body and its ID are sent unchanged with every attempt/).waitFor()
  // With itself an attempt has no differences.
  await aside.getByLabel('Compare attempt', { exact: true }).selectOption({ index: 1 })
  await aside.getByText('Both were answered in the same way.').waitFor()

  await aside.getByRole('link', { name: 'Event and what changed' }).click()
  const event = page.getByRole('complementary', { name: 'Event' })
  const changes = event.getByRole('table', { name: 'Changes of the body' })
  await changes.getByRole('columnheader', { name: 'invoice.created' }).waitFor()
  await changes.getByRole('row', { name: 'type "invoice.created" "invoice.pending"' }).waitFor()
  // Both sides have the same room, however long the values of one are.
  const widths = await changes.evaluate((table) =>
    [...table.querySelectorAll('thead th')].map((head) => Math.round(head.getBoundingClientRect().width)),
  )
  expect(widths).toHaveLength(3)
  expect(Math.abs((widths[1] ?? 0) - (widths[2] ?? 0))).toBeLessThan(2)
  expect(await axeViolations(page)).toEqual([])

  // The page of the invoice tells the same in sentences, with the deliveries below their event.
  await page.goto(`${dev.adminUrl}${dashboardPath(`invoices/${invoice.id}`, dev.workspaceId, 'test')}`)
  const story = page.locator('.pm-story > li')
  const chosen = story.filter({ hasText: 'Payer chose USDT on Ethereum' })
  await chosen.getByText('1 delivery').click()
  await chosen.getByRole('link', { name: /^Delivered to/ }).waitFor()
  const created = story.filter({ hasText: 'Invoice created' })
  await created.getByText('1 delivery, 1 not successful').waitFor()
  await created.getByRole('link', { name: /returned 503$/ }).waitFor()
  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Invoices' }).click()
  await page.waitForURL(/\/invoices$/)
})
