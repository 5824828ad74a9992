import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPaymesh, type Invoice, type Paymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { connectDatabase, type Database } from '#shared/db/connect.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/delivery-model.ts'
import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoint-model.ts'
import { EVENTS } from '#shared/db/event-model.ts'
import { EXCEPTIONS } from '#shared/db/exception-model.ts'
import { INVOICES } from '#shared/db/invoice-model.ts'
import { PAYMENT_LINKS } from '#shared/db/payment-link-model.ts'
import { PAYMENTS } from '#shared/db/payment-model.ts'
import { PRODUCTS } from '#shared/db/product-model.ts'
import { uuidFloor } from '#shared/db/uuid-time.ts'
import { createLogger } from '#shared/runtime/logger.ts'
import { startWebhookReceiver } from './webhook-receiver.ts'
import { runCli } from './world.ts'

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

/** Rows of each list in live mode. */
export const MANY = 120
const DAY_MS = 86_400_000
const PATIENCE_MS = 90_000
type Doc = Record<string, unknown> & { _id: string }

/**
 * Seeds an installation once for each name; later calls give the same. `isOperator`: its owner sees the pages of the installation as
 * well.
 */
export async function seedLists(
  dataDir: string,
  dev: DevInfo,
  { name, isOperator }: { readonly name: string; readonly isOperator: boolean },
): Promise<ListSeed> {
  const file = join(dataDir, `list-seed-${name}.json`)
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as ListSeed
  const email = `${randomUUID()}@example.com`
  const owner = ['workspace', 'create', '--name', 'Lists', '--owner-email', email]
  const { id: workspaceId } = await runCli<{ id: string }>(dataDir, owner)
  const person = ['operator', 'create', '--email', email, '--name', 'Lia List', '--workspace', workspaceId]
  const [{ key }, { password }] = await Promise.all([
    runCli<{ key: string }>(dataDir, [
      'key',
      'create',
      '--workspace',
      workspaceId,
      '--mode',
      'test',
      '--scopes',
      'all',
    ]),
    runCli<{ password: string }>(dataDir, [...person, '--role', 'owner', ...(isOperator ? ['--instance'] : [])]),
  ])
  const { stores } = parseConfig(readEnvironment(dataDir) ?? {})
  const logger = createLogger({ name: 'seed', level: 'silent' })
  const db = await connectDatabase({ url: stores.mongoUrl, name: stores.mongoDatabase, logger })
  try {
    const shop = createPaymesh({ apiKey: key, baseUrl: dev.apiUrl })
    const { invoices, refusingEndpointId } = await trade(shop)
    const { number: paidNumber } = await shop.invoices.get(invoices['paid'] ?? '')
    await settle(db, workspaceId)
    await addFew(db, workspaceId)
    await addMany(db, workspaceId)
    const event = await db.collection(EVENTS).findOne({ workspaceId, mode: 'test' })
    const seed: ListSeed = {
      ...{ workspaceId, apiKey: key, email, password, invoices, paidNumber, refusingEndpointId },
      ...{ orderId: ORDER, customerEmail: CUSTOMER, eventId: event?._id ?? '' },
    }
    writeFileSync(file, JSON.stringify(seed))
    return seed
  } finally {
    await db.close()
  }
}

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
    await shop.invoices.create({ amount, currency: 'USD', asset: 'usdt_ethereum', ...more })
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

/** What trade cannot make in a minute: other networks, ages, sources and ends. */
async function addFew(db: Database, workspaceId: string): Promise<void> {
  const now = Date.now()
  const own = { workspaceId, mode: 'test' as const }
  const invoice = async (status: string) => invoiceTemplate(await one(db, INVOICES, { ...own, status }))
  const [paid, expired] = [await invoice('paid'), await invoice('expired')]
  const confirming = {
    ...{ status: 'confirming', paidAt: null },
    ledger: (paid['ledger'] as object[]).map((row) => ({ ...row, state: 'detected', confirmed: false })),
  }
  let number = 900
  const copy = (template: Doc, at: number, change: object) => {
    number += 1
    return { ...template, _id: idAt(at), number, orderId: null, createdAt: new Date(at), ...change }
  }
  await insert(db, INVOICES, [
    copy(paid, now - 1_000, confirming),
    copy(paid, now - 2 * DAY_MS, { paidLate: true, source: 'manual' }),
    copy(paid, now - 3 * DAY_MS, { underpaidAccepted: true, source: 'link' }),
    copy(paid, now - 10 * DAY_MS, { source: 'billing' }),
    copy(expired, now - 40 * DAY_MS, { source: 'manual' }),
    copy(expired, now - 200 * DAY_MS, {}),
  ])
  const payment = await one(db, PAYMENTS, { ...own, state: 'confirmed' })
  const paymentAt = (at: number, change: object) => {
    const _id = idAt(at)
    const seen = { createdAt: new Date(at), firstSeenAt: new Date(at) }
    return { ...payment, _id, key: `seed:${_id}`, kind: 'onchain', txHash: `0x${hex(32)}`, ...seen, ...change }
  }
  await insert(db, PAYMENTS, [
    paymentAt(now - 3_000, { network: 'bitcoin', asset: 'btc_bitcoin', txHash: hex(32) }),
    paymentAt(now - 2 * DAY_MS, {
      network: 'solana',
      asset: 'sol_solana',
      counted: false,
      uncountedReason: 'unmatched',
    }),
    paymentAt(now - 10 * DAY_MS, { state: 'replaced', counted: false, uncountedReason: 'unmatched' }),
    paymentAt(now - 40 * DAY_MS, {}),
  ])
  const endpoint = await one(db, WEBHOOK_ENDPOINTS, { workspaceId })
  const paused = { ...endpoint, _id: randomUUID(), url: 'http://localhost:9/paused', status: 'disabled', opId: null }
  await insert(db, WEBHOOK_ENDPOINTS, [paused])
  const delivery = await one(db, WEBHOOK_DELIVERIES, { ...own, status: 'succeeded' })
  const deliveryAt = (at: number, change: object) => ({
    ...{
      ...delivery,
      _id: `whd_${hex(13)}`,
      eventId: eventIdOf(idAt(at)),
      createdAt: new Date(at),
      dueAt: new Date(at),
    },
    ...{ finishedAt: new Date(at + 1_000), leaseToken: null, ...change },
  })
  const gaveUp = { status: 'failed', attempt: 9, lastError: 'status_500', lastStatusCode: 500 }
  const held = { status: 'held', endpointId: paused._id, attempt: 0, finishedAt: null, lastStatusCode: null }
  await insert(db, WEBHOOK_DELIVERIES, [
    deliveryAt(now - 3 * DAY_MS, gaveUp),
    deliveryAt(now - 12 * DAY_MS, gaveUp),
    deliveryAt(now - 4_000, held),
    deliveryAt(now - 40 * DAY_MS, {}),
  ])
  const exception = await one(db, EXCEPTIONS, { workspaceId })
  const entry = (change: object) => ({ ...exception, _id: randomUUID(), ...change })
  const decided = {
    by: 'user:lia@example.com',
    at: new Date(now),
    resolution: 'closed',
    reason: 'seen',
    opId: randomUUID(),
  }
  await insert(db, EXCEPTIONS, [
    entry({ kind: 'failing_endpoint', invoiceId: null, paymentKey: null, detail: 'An endpoint fails.' }),
    entry({ open: false, closedAt: new Date(now), resolved: decided }),
  ])
}

/** Three pages of everything, in live mode. */
async function addMany(db: Database, workspaceId: string): Promise<void> {
  const now = Date.now()
  const own = { workspaceId, mode: 'test' as const }
  const paid = invoiceTemplate(await one(db, INVOICES, { ...own, status: 'paid' }))
  const payment = await one(db, PAYMENTS, { ...own, state: 'confirmed' })
  const endpoint = await one(db, WEBHOOK_ENDPOINTS, { workspaceId, status: 'enabled' })
  const delivery = await one(db, WEBHOOK_DELIVERIES, { ...own, status: 'succeeded' })
  const event = await one(db, EVENTS, own)
  const exception = await one(db, EXCEPTIONS, { workspaceId, open: true })
  const [product, link] = [await one(db, PRODUCTS, own), await one(db, PAYMENT_LINKS, own)]
  const live = 'live' as const
  await insert(db, WEBHOOK_ENDPOINTS, [{ ...endpoint, _id: randomUUID(), mode: live, opId: null }])
  const rows = Array.from({ length: MANY }, (_, index) => {
    const at = now - 60_000 * (index + 1)
    const id = idAt(at)
    return { index, at, id, made: { _id: id, mode: live, createdAt: new Date(at) }, eventId: eventIdOf(id) }
  })
  await insert(
    db,
    INVOICES,
    rows.map(({ index, made }) => ({ ...paid, ...made, number: index + 1, orderId: `ROW-${index}` })),
  )
  await insert(
    db,
    PAYMENTS,
    rows.map(({ at, id, made }) => ({
      ...payment,
      ...made,
      key: `seed:${id}`,
      invoiceId: id,
      firstSeenAt: new Date(at),
    })),
  )
  await insert(
    db,
    PRODUCTS,
    rows.map(({ index, made }) => ({ ...product, ...made, name: `Product ${index}`, sku: null })),
  )
  await insert(
    db,
    PAYMENT_LINKS,
    rows.map(({ index, made }) => ({ ...link, ...made, title: `Link ${index}` })),
  )
  await insert(
    db,
    EVENTS,
    rows.map(({ id, made, eventId }) => ({ ...event, ...made, _id: eventId, invoiceId: id, seq: 1 })),
  )
  await insert(
    db,
    WEBHOOK_DELIVERIES,
    rows.map(({ made, eventId }) => ({ ...delivery, ...made, _id: `whd_${hex(13)}`, eventId })),
  )
  await insert(
    db,
    EXCEPTIONS,
    rows.map(({ at, id }) => ({ ...exception, _id: randomUUID(), mode: live, invoiceId: id, openedAt: new Date(at) })),
  )
}

/** An invoice that nothing works on any more. */
function invoiceTemplate(found: Doc): Doc {
  const { claims: _claims, outboxAt: _outbox, nextActionAt: _action, releaseAt: _release, idem: _idem, ...kept } = found
  return { ...kept, outbox: [], lastOps: [], exceptions: [] }
}

type Collection = Parameters<Database['collection']>[0]

async function one(db: Database, collection: object, filter: object): Promise<Doc> {
  const found = await db.collection(collection as Collection).findOne(filter)
  if (found === null) throw new Error(`the seed lacks ${JSON.stringify(filter)}`)
  return found as unknown as Doc
}

async function insert(db: Database, collection: object, rows: readonly Doc[]): Promise<void> {
  await db.collection(collection as Collection).insertMany(rows as never)
}

const hex = (bytes: number): string => randomBytes(bytes).toString('hex')

/** A UUID version 7 of that moment. */
function idAt(at: number): string {
  const random = hex(10)
  return `${uuidFloor(at).slice(0, 14)}7${random.slice(0, 3)}-8${random.slice(3, 6)}-${random.slice(6, 18)}`
}

const eventIdOf = (invoiceId: string): string => `evt_${invoiceId.replaceAll('-', '')}_1`
