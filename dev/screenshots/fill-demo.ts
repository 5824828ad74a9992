import { randomBytes } from 'node:crypto'
import { createPaymesh, type Invoice, type InvoiceCreate } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { INVOICES, type InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import { createRollups, ROLLUPS_FACT } from '#shared/db/reports/rollups.ts'
import type { AssetId, Mode } from '#shared/domain/enumerations.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { startWebhookReceiver } from '#test/support/webhook-receiver.ts'

/** Created objects, for detail pages: path below `/{workspace}/{mode}/` by the page's name, and URLs of the checkout. */
export interface Demo {
  readonly pages: Readonly<Record<string, string>>
  readonly checkout: Readonly<Record<string, string>>
}

/** Fills the seeded workspace of a development installation with an afternoon of trade, in test mode. */
export async function fillDemo(dataDir: string, dev: DevInfo): Promise<Demo> {
  const shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const template = await shop.invoices.create({
    amount: '148.50',
    currency: 'USD',
    asset: 'usdt_ethereum',
    order_id: 'CL-20417',
  })
  await shop.invoices.simulate(template.id, 'paid')
  await until(shop, template.id, 'paid')
  const { stores } = parseConfig(readEnvironment(dataDir) ?? {})
  const logger = createLogger({ name: 'demo', level: 'silent' })
  const db = await connectDatabase({ url: stores.mongoUrl, name: stores.mongoDatabase, logger })
  try {
    await fillHistory(db, template.id)
  } finally {
    await db.close()
  }

  const receiver = await startWebhookReceiver()
  const dead = `${dev.apiUrl.replace('127.0.0.1', 'localhost')}/nobody-listens-here`
  await shop.webhookEndpoints.create({ url: receiver.url, events: ['*'], description: 'Shop' })
  await shop.webhookEndpoints.create({ url: dead, events: ['invoice.paid', 'invoice.expired'], description: 'ERP' })
  await shop.products.create({ name: 'Coffee beans, 1 kg', price: '24.00', currency: 'USD' })
  const link = await shop.paymentLinks.create({
    title: 'A coffee for the team',
    currency: 'USD',
    allow_custom_amount: true,
    min_amount: '5.00',
    max_amount: '500.00',
  })
  let order = 20_418
  const create = async (amount: string, more: Partial<InvoiceCreate> = {}) => {
    order += 1
    return await shop.invoices.create({ amount, currency: 'USD', order_id: `CL-${order}`, ...more })
  }
  const fresh = await create('1250.00', { currency: 'MXN' })
  const waiting = await create('64.00', { asset: 'usdt_ethereum', description: 'Two bags of coffee' })
  const partial = await simulated(await create('312.00', { asset: 'usdc_ethereum' }), 'partial')
  const paid = await simulated(
    await create('148.50', { asset: 'usdt_ethereum', customer: { name: 'Ana Reyes', email: 'ana@example.com' } }),
    'paid',
  )
  const over = await simulated(await create('48.00', { asset: 'usdt_ethereum' }), 'overpaid')
  const expired = await simulated(await create('92.00', { asset: 'eth_ethereum' }), 'expired')
  const cancelled = await create('15.00')
  await shop.invoices.cancel(cancelled.id)
  await until(shop, paid.id, 'paid')
  await until(shop, expired.id, 'expired')
  await receiver.waitFor(({ body }) => body.includes('"invoice.expired"'), PATIENCE_MS)
  await receiver.close()
  return {
    pages: { invoice: `invoices/${paid.id}`, 'invoice-partial': `invoices/${partial.id}`, link: `links/${link.id}` },
    checkout: {
      pick: fresh.urls.checkout,
      pay: waiting.urls.checkout,
      partial: partial.urls.checkout,
      paid: paid.urls.checkout,
      overpaid: over.urls.checkout,
      expired: expired.urls.checkout,
      cancelled: cancelled.urls.checkout,
      link: link.url,
    },
  }

  async function simulated(invoice: Invoice, scenario: 'paid' | 'partial' | 'overpaid' | 'expired'): Promise<Invoice> {
    await shop.invoices.simulate(invoice.id, scenario)
    return invoice
  }
}

const PATIENCE_MS = 60_000

async function until(shop: ReturnType<typeof createPaymesh>, id: string, status: string): Promise<void> {
  const end = Date.now() + PATIENCE_MS
  while ((await shop.invoices.get(id)).status !== status) {
    if (Date.now() > end) throw new Error(`invoice ${id} did not become ${status}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const DAY_MS = 86_400_000
const DAYS = 28
const FIRST_NUMBER = 3_800
const COINS: readonly (readonly [symbol: string, asset: AssetId])[] = [
  ['USDT', 'usdt_ethereum'],
  ['USDT', 'usdt_ethereum'],
  ['BTC', 'btc_bitcoin'],
  ['ETH', 'eth_ethereum'],
]

/**
 * Copies a paid invoice into the four preceding weeks, in both modes, so that charts have data. No event is created for it, and a second
 * run adds nothing.
 */
async function fillHistory(db: Database, templateId: string): Promise<void> {
  const invoices = db.collection(INVOICES)
  const template = await invoices.findOne({ _id: templateId })
  if (template === null) throw new Error('the template is gone')
  const {
    claims: _claims,
    outboxAt: _outbox,
    nextActionAt: _action,
    releaseAt: _release,
    idem: _idem,
    ...kept
  } = template
  const now = Date.now()
  for (const mode of ['test', 'live'] as const) {
    const { workspaceId } = template
    if ((await invoices.findOne({ workspaceId, mode, number: FIRST_NUMBER })) !== null) continue
    const copies: InvoiceDocument[] = []
    for (let day = DAYS; day >= 1; day--) {
      // Busy and quiet days, the same in every run.
      const count = 5 + ((day * 7) % 9) + (day < 14 ? 3 : 0)
      for (let index = 0; index < count; index++) {
        copies.push(copyOf(kept, mode, now - day * DAY_MS + index * 2_400_000, copies.length))
      }
    }
    await invoices.insertMany(copies)
  }
  // No figure is counted again for invoices of earlier days: nobody makes them but this.
  await db.collection(INSTALLATION).deleteOne({ _id: ROLLUPS_FACT })
  await createRollups(db).catchUp(now)
}

function copyOf(template: Omit<InvoiceDocument, 'claims'>, mode: Mode, at: number, index: number): InvoiceDocument {
  const [symbol, asset] = COINS[index % COINS.length] ?? ['USDT', 'usdt_ethereum']
  const status = index % 11 === 3 ? 'expired' : index % 17 === 5 ? 'cancelled' : index % 23 === 7 ? 'overpaid' : 'paid'
  const isPaid = status === 'paid' || status === 'overpaid'
  const chosen = at + 40_000
  const paidAt = isPaid ? new Date(chosen + 150_000 + ((index * 37) % 200) * 1_000) : null
  return {
    ...template,
    _id: `${uuidLowerBound(at).slice(0, 14)}7${randomBytes(2).toString('hex').slice(1)}-8${randomBytes(2).toString('hex').slice(1)}-${randomBytes(6).toString('hex')}`,
    mode,
    number: FIRST_NUMBER + index,
    orderId: `CL-${20_000 + index}`,
    status,
    fiat: { minor: String(4_500 + ((index * 1_931) % 21_000)), currency: 'USD' },
    paymentMethods:
      status === 'cancelled'
        ? []
        : template.paymentMethods.map((paymentMethod) => ({ ...paymentMethod, symbol, asset, from: new Date(chosen) })),
    ledger: isPaid ? template.ledger : [],
    createdAt: new Date(at),
    updatedAt: paidAt ?? new Date(at + DAY_MS / 2),
    expiresAt: new Date(chosen + 1_200_000),
    paidAt,
    outbox: [],
    lastOps: [],
    exceptions: [],
  }
}
