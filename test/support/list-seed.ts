import { createPaymesh, type Invoice, type Paymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { copyRows } from './list-seed-copies.ts'
import { openTenant } from './open-tenant.ts'
import { startWebhookReceiver } from './webhook-receiver.ts'

/**
 * A workspace whose lists show every value of every filter: in test mode so few rows that each list is one page, in live mode so many that
 * each has three.
 */
export interface ListSeed {
  readonly workspaceId: string
  readonly apiKey: string
  readonly email: string
  readonly password: string
  /** Texts that searches find something by. */
  readonly orderId: string
  readonly customerEmail: string
  readonly eventId: string
  /** Real invoices of test mode by status, and the number of the paid one. */
  readonly invoices: Readonly<Record<string, string>>
  readonly paidNumber: number
  /** An endpoint that refused what it was sent, with nothing over yet. */
  readonly refusingEndpointId: string
}

const PATIENCE_MS = 90_000

/**
 * Opens such a workspace on an installation. `isOperator`: its owner sees the pages of the installation as well.
 */
export async function seedLists(
  dataDir: string,
  dev: DevInfo,
  { isOperator }: { readonly isOperator: boolean },
): Promise<ListSeed> {
  const { workspaceId, testKey: key, owner } = await openTenant(dataDir, { name: 'Lists', isOperator })
  const { email, password } = owner
  const { stores } = parseConfig(readEnvironment(dataDir) ?? {})
  const logger = createLogger({ name: 'seed', level: 'silent' })
  const db = await connectDatabase({ url: stores.mongoUrl, name: stores.mongoDatabase, logger })
  try {
    const shop = createPaymesh({ apiKey: key, baseUrl: dev.apiUrl })
    const { invoices, refusingEndpointId } = await trade(shop)
    const { number: paidNumber } = await shop.invoices.get(invoices['paid'] ?? '')
    await settle(db, workspaceId)
    await copyRows(db, workspaceId)
    const event = await db.collection(EVENTS).findOne({ workspaceId, mode: 'test' })
    return {
      ...{ workspaceId, apiKey: key, email, password, invoices, paidNumber, refusingEndpointId },
      ...{ orderId: ORDER, customerEmail: CUSTOMER, eventId: event?._id ?? '' },
    }
  } finally {
    await db.close()
  }
}

/** Longer than any run of the tests: what is pending stays so. */
const SEED_LIFE_S = 6 * 3_600
const ORDER = 'LIST-7'
const CUSTOMER = 'ana.lista@example.com'

/** Real trade in test mode: an invoice of each status that can be reached, with an endpoint that takes events and one that refuses. */
async function trade(shop: Paymesh): Promise<Pick<ListSeed, 'invoices' | 'refusingEndpointId'>> {
  const [good, bad] = await Promise.all([startWebhookReceiver(), startWebhookReceiver()])
  bad.answer({ kind: 'status', status: 503 })
  const taken = ['invoice.paid', 'invoice.expired', 'invoice.cancelled'] as const
  await shop.webhookEndpoints.create({ url: good.url, events: [...taken], description: 'Shop' })
  const refusing = await shop.webhookEndpoints.create({ url: bad.url, events: ['invoice.created'] })
  await shop.products.create({ name: 'Coffee beans', price: '24.00', currency: 'USD' })
  await shop.paymentLinks.create({ title: 'Coffee for the team', currency: 'USD', amount: '8.00' })
  const create = async (amount: string, more: Partial<Parameters<typeof shop.invoices.create>[0]> = {}) =>
    await shop.invoices.create({ amount, currency: 'USD', asset: 'usdt_ethereum', expires_in: SEED_LIFE_S, ...more })
  const play = async (invoice: Invoice, scenario: 'paid' | 'partial' | 'overpaid' | 'expired') => {
    await shop.invoices.simulate(invoice.id, scenario)
    await until(shop, invoice.id, scenario)
    return invoice.id
  }
  const fresh = await shop.invoices.create({ amount: '1250.50', currency: 'MXN', order_id: ORDER })
  const pending = await create('64.02', { customer: { email: CUSTOMER, name: 'Ana' } })
  const ether = await create('31.00', { asset: 'eth_ethereum', currency: 'EUR' })
  const cancelled = await create('15.00')
  await shop.invoices.cancel(cancelled.id)
  const invoices = {
    ...{ new: fresh.id, pending: pending.id, cancelled: cancelled.id },
    partial: await play(await create('312.00'), 'partial'),
    paid: await play(await create('148.50', { order_id: 'LIST-8' }), 'paid'),
    overpaid: await play(await create('48.00'), 'overpaid'),
    expired: await play(await create('92.00'), 'expired'),
    'paid in ether': await play(ether, 'paid'),
  }
  await good.waitFor(({ body }) => body.includes('"invoice.expired"'), PATIENCE_MS)
  await bad.waitForCount(8, PATIENCE_MS)
  await Promise.all([good.close(), bad.close()])
  return { invoices, refusingEndpointId: refusing.id }
}

async function until(shop: Paymesh, id: string, status: string): Promise<void> {
  const end = Date.now() + PATIENCE_MS
  while ((await shop.invoices.get(id)).status !== status) {
    if (Date.now() > end) throw new Error(`invoice ${id} did not become ${status}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Resolves when everything that the trade caused is announced and in the inbox. */
async function settle(db: Database, workspaceId: string): Promise<void> {
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    const [waiting, exceptions] = await Promise.all([
      db.collection(INVOICES).countDocuments({ workspaceId, outboxAt: { $exists: true } }),
      db.collection(EXCEPTIONS).countDocuments({ workspaceId }),
    ])
    if (waiting === 0 && exceptions > 0) return
    if (Date.now() > end) throw new Error(`${waiting} outboxes wait, ${exceptions} exceptions are open`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
