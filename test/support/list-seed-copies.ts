import { randomBytes, randomUUID } from 'node:crypto'
import type { Database } from '#shared/db/connection/connect.ts'
import { uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoints/endpoint-model.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENT_LINKS } from '#shared/db/payment-links/payment-link-model.ts'
import { PRODUCTS } from '#shared/db/payment-links/product-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { API_KEYS } from '#shared/db/workspaces/api-key-model.ts'
import { keyed } from './keyed.ts'

/** Rows of each list in live mode: three pages. */
const MANY = 120
const DAY_MS = 86_400_000
const FAILED = { status: 'failed', attempt: 9, lastError: 'status_500', lastStatusCode: 500 }
type Doc = Record<string, unknown> & { _id: string }

/** Copies what was traded in test mode: there with the values that trade cannot make, in live mode often. Nothing works on copies. */
export async function copyRows(db: Database, workspaceId: string): Promise<void> {
  await addFew(db, workspaceId)
  await addMany(db, workspaceId)
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
  const paymentAt = (at: number, change: { readonly network?: string; readonly [field: string]: unknown }) => {
    const _id = idAt(at)
    const time = new Date(at)
    const seen = { createdAt: time, firstSeenAt: time, confirmedAt: time, bookedAt: [time] }
    const row = { ...payment, _id, kind: 'onchain', txHash: `0x${hex(32)}`, ...seen, ...change }
    const { network = payment['network'] } = change
    return { ...row, ...keyed(`test:${network}:${row.txHash}:0`) }
  }
  await insert(db, PAYMENTS, [
    paymentAt(now - 3_000, { network: 'bitcoin', asset: 'btc_bitcoin', txHash: hex(32) }),
    paymentAt(now - 2 * DAY_MS, {
      network: 'solana',
      asset: 'sol_solana',
      counted: false,
      uncountedReason: 'unmatched',
    }),
    paymentAt(now - 10 * DAY_MS, {
      state: 'replaced',
      confirmedAt: null,
      bookedAt: [],
      counted: false,
      uncountedReason: 'unmatched',
    }),
    paymentAt(now - 40 * DAY_MS, {}),
  ])
  const key = await one(db, API_KEYS, own)
  const made = new Date(now - 3 * DAY_MS)
  await insert(db, API_KEYS, [
    { ...key, _id: idAt(made.getTime()), hash: hex(32), name: 'Bookkeeping', createdAt: made },
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
  const held = { status: 'held', endpointId: paused._id, attempt: 0, finishedAt: null, lastStatusCode: null }
  await insert(db, WEBHOOK_DELIVERIES, [
    deliveryAt(now - 3 * DAY_MS, FAILED),
    deliveryAt(now - 12 * DAY_MS, FAILED),
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

/** What changes from row to row where there are many, so that each page of "all" holds some of what a filter finds. */
const INVOICE_TURNS = [
  { status: 'paid', source: 'api' },
  { status: 'expired', source: 'link', paidAt: null },
  { status: 'cancelled', source: 'manual', paidAt: null },
  { status: 'overpaid', source: 'billing', paidLate: true },
]
const PAYMENT_TURNS = [
  { network: 'ethereum' },
  { network: 'bitcoin', asset: 'btc_bitcoin' },
  { network: 'solana', asset: 'sol_solana', counted: false, uncountedReason: 'unmatched' },
]

const deliveryTurns = (now: number, pausedEndpointId: string) => [
  { status: 'succeeded', eventType: 'invoice.paid' },
  { ...FAILED, eventType: 'invoice.created' },
  { status: 'pending', attempt: 1, finishedAt: null, dueAt: new Date(now + DAY_MS), leaseToken: null },
  { status: 'held', attempt: 0, finishedAt: null, endpointId: pausedEndpointId, leaseToken: null },
]

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
  const { _id: paused } = await one(db, WEBHOOK_ENDPOINTS, { workspaceId, status: 'disabled' })
  await insert(db, WEBHOOK_ENDPOINTS, [{ ...endpoint, _id: randomUUID(), mode: live, opId: null }])
  const rows = Array.from({ length: MANY }, (_, index) => {
    const at = now - 60_000 * (index + 1)
    const id = idAt(at)
    return { index, at, id, made: { _id: id, mode: live, createdAt: new Date(at) }, eventId: eventIdOf(id) }
  })
  await insert(
    db,
    INVOICES,
    rows.map(({ index, made }) => {
      const turn = INVOICE_TURNS[index % INVOICE_TURNS.length]
      return { ...paid, ...made, number: index + 1, orderId: `ROW-${index}`, ...turn }
    }),
  )
  await insert(
    db,
    PAYMENTS,
    rows.map(({ index, at, id, made }) => ({
      ...payment,
      ...made,
      ...PAYMENT_TURNS[index % PAYMENT_TURNS.length],
      ...keyed(`seed:${id}`),
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
    rows.map(({ index, made, eventId }) => ({
      ...{ ...delivery, ...made, _id: `whd_${hex(13)}`, eventId },
      ...deliveryTurns(now, paused)[index % 4],
    })),
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
  return `${uuidLowerBound(at).slice(0, 14)}7${random.slice(0, 3)}-8${random.slice(3, 6)}-${random.slice(6, 18)}`
}

const eventIdOf = (invoiceId: string): string => `evt_${invoiceId.replaceAll('-', '')}_1`
