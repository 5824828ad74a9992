import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { verifyWebhook } from '#clients/typescript/src/main.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { INVOICES, type InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { createReconciliationRepository } from '#shared/db/reconciliation/reconciliation-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { reconcile } from '#shared/usecases/reconciliation/reconcile.ts'
import { earlyRetries } from './early-retries.ts'
import type { LedgerLine, Plan } from './ledger.ts'
import type { Arrival, Manner } from './receivers.ts'

/** Result of the run: every list of `faults` is empty when nothing was lost, duplicated, early or forged. */
export interface Verdict {
  readonly counts: Readonly<Record<string, number>>
  /** Guarantee → its breaches, one line each. */
  readonly breaches: Readonly<Record<string, readonly string[]>>
  /** Requests per delivery that a receiver had already accepted; repetitions after a lost response do not count. */
  readonly duplicateShare: number
}

export interface Evidence {
  readonly db: Database
  readonly ledger: readonly LedgerLine[]
  readonly arrivals: readonly Arrival[]
  readonly endpoints: Readonly<Record<Manner, { readonly id: string; readonly secret: string }>>
  /** The one workspace that the ledger, the arrivals and the endpoints belong to; absent where the installation has no other. */
  readonly workspaceId?: string
}

/** What selects the documents that the evidence is about. */
const owned = ({ workspaceId }: Evidence) => (workspaceId === undefined ? {} : { workspaceId })

/** A larger share of duplicates is a breach: at-least-once must remain an exception. */
const DUPLICATE_SHARE_MAX = 0.01
/** Fewer deliveries cannot show one per cent: a single killed process has more than that in flight. */
const DUPLICATES_CHECKED_FROM = 5_000

const SETTLED: Readonly<Record<Plan, string>> = {
  exact: 'paid',
  parts: 'paid',
  over: 'overpaid',
  cancel: 'cancelled',
  none: 'pending',
  expire: 'expired',
}

/** Compares the merchants' record, the store and the receivers as sets. */
export async function evaluate(evidence: Evidence): Promise<Verdict> {
  const invoices = await evidence.db.collection(INVOICES).find(owned(evidence)).toArray()
  const byId = new Map(invoices.map((invoice) => [invoice._id, invoice]))
  const [money, events, deliveries, timing] = await Promise.all([
    checkMoney(evidence, byId),
    checkEvents(evidence, invoices),
    checkDeliveries(evidence),
    checkTiming(evidence),
  ])
  const duplicateShare = deliveries.delivered === 0 ? 0 : deliveries.duplicates / deliveries.delivered
  const tooMany = deliveries.delivered >= DUPLICATES_CHECKED_FROM && duplicateShare > DUPLICATE_SHARE_MAX
  return {
    counts: {
      intents: count(evidence.ledger, 'intent'),
      acknowledged: count(evidence.ledger, 'created'),
      transfers: count(evidence.ledger, 'transfer'),
      invoices: invoices.length,
      events: events.count,
      requests: evidence.arrivals.length,
      delivered: deliveries.delivered,
      'waiting for their next attempt': deliveries.waiting,
      'sent again because the response was lost': deliveries.answersLost,
      duplicates: deliveries.duplicates,
      attempts: timing.count,
    },
    breaches: {
      'no acknowledged invoice is lost, none exists twice': checkInvoices(evidence.ledger, byId),
      'every transfer is credited once, every invoice ends as its payments say': money,
      'every change has its event, numbered without a gap': events.breaches,
      'every event reached every endpoint, with one id, one body and a valid signature': deliveries.breaches,
      'no retry is early': timing.breaches,
      'the records of every invoice are consistent': await checkRecords(evidence.db),
      [`duplicates are at most 1 % (checked from ${DUPLICATES_CHECKED_FROM} deliveries on)`]: tooMany
        ? [`${deliveries.duplicates} of ${deliveries.delivered}`]
        : [],
    },
    duplicateShare,
  }
}

/** Result of `paymesh reconcile`. */
async function checkRecords(db: Database): Promise<readonly string[]> {
  const deps = {
    reconciliation: createReconciliationRepository(db),
    cursors: createCursorRepository(db),
    clock: { now: () => Date.now() },
    pause: (ms: number) => delay(ms),
  }
  const { violations } = await reconcile(deps, { since: null, onProgress: () => undefined })
  return violations.map(({ invoiceId, invariant, words }) => `invoice ${invoiceId}, ${invariant}: ${words}`)
}

const count = (ledger: readonly LedgerLine[], kind: LedgerLine['kind']): number =>
  ledger.filter((line) => line.kind === kind).length

function checkInvoices(ledger: readonly LedgerLine[], byId: ReadonlyMap<string, InvoiceDocument>): readonly string[] {
  const breaches: string[] = []
  const byKey = new Map<string, string[]>()
  for (const { _id, idem } of byId.values()) {
    if (idem !== undefined) byKey.set(idem.key, [...(byKey.get(idem.key) ?? []), _id])
  }
  for (const line of ledger) {
    if (line.kind === 'refused') breaches.push(`${line.key} was refused with ${line.code}`)
    if (line.kind !== 'created') continue
    if (!byId.has(line.invoiceId)) breaches.push(`invoice ${line.invoiceId} was acknowledged and is gone`)
    const stored = byKey.get(line.key) ?? []
    if (stored.length !== 1 || stored[0] !== line.invoiceId)
      breaches.push(`${line.key} stands for ${stored.join(', ') || 'nothing'} and was answered with ${line.invoiceId}`)
  }
  const answered = new Set(ledger.flatMap((line) => (line.kind === 'created' ? [line.key] : [])))
  for (const line of ledger) {
    if (line.kind === 'intent' && !answered.has(line.key)) breaches.push(`${line.key} never got an answer`)
  }
  return breaches
}

async function checkMoney(evidence: Evidence, byId: ReadonlyMap<string, InvoiceDocument>): Promise<readonly string[]> {
  const { db, ledger } = evidence
  const breaches: string[] = []
  const payments = await db.collection(PAYMENTS).find(owned(evidence)).toArray()
  const sent = new Map(ledger.flatMap((line) => (line.kind === 'transfer' ? [[line.txHash, line]] : [])))
  const credited = new Map<string, bigint>()
  for (const { txHash, amountBase, state, invoiceId, counted } of payments) {
    const transfer = sent.get(txHash ?? '')
    if (transfer === undefined) breaches.push(`payment ${txHash} was never sent`)
    else if (transfer.amountBase !== amountBase) breaches.push(`payment ${txHash} has another amount`)
    else if (transfer.invoiceId !== invoiceId || !counted || state !== 'confirmed')
      breaches.push(`payment ${txHash} is ${state}, counted ${counted}, for ${invoiceId}`)
    if (invoiceId !== null) credited.set(invoiceId, (credited.get(invoiceId) ?? 0n) + BigInt(amountBase))
  }
  const rows = new Map<string, number>()
  for (const { txHash } of payments) rows.set(txHash ?? '', (rows.get(txHash ?? '') ?? 0) + 1)
  for (const txHash of sent.keys())
    if (rows.get(txHash) !== 1) breaches.push(`transfer ${txHash} is stored ${rows.get(txHash) ?? 0} times`)
  const plans = new Map(ledger.flatMap((line) => (line.kind === 'intent' ? [[line.key, line.plan]] : [])))
  for (const line of ledger) {
    if (line.kind !== 'created') continue
    const invoice = byId.get(line.invoiceId)
    const plan = plans.get(line.key)
    if (invoice === undefined || plan === undefined) continue
    const total = invoice.ledger.reduce((sum, row) => sum + BigInt(row.amountBase), 0n)
    if (total !== (credited.get(line.invoiceId) ?? 0n))
      breaches.push(`invoice ${line.invoiceId} counts ${total}, its payments are ${credited.get(line.invoiceId) ?? 0n}`)
    if (invoice.status !== SETTLED[plan])
      breaches.push(`invoice ${line.invoiceId} (${plan}) is ${invoice.status} instead of ${SETTLED[plan]}`)
  }
  return breaches
}

async function checkEvents(evidence: Evidence, invoices: readonly InvoiceDocument[]) {
  const breaches: string[] = []
  const events = await evidence.db
    .collection(EVENTS)
    .find(owned(evidence), { projection: { invoiceId: 1, seq: 1, type: 1 } })
    .toArray()
  const byInvoice = new Map<string, { seq: number; type: string }[]>()
  for (const { invoiceId, seq, type } of events) {
    if (invoiceId === undefined) continue
    byInvoice.set(invoiceId, [...(byInvoice.get(invoiceId) ?? []), { seq, type }])
  }
  for (const { _id, status, outbox } of invoices) {
    if (outbox.length > 0) breaches.push(`invoice ${_id} still has ${outbox.length} entries in its outbox`)
    const own = (byInvoice.get(_id) ?? []).sort((a, b) => a.seq - b.seq)
    const types = own.map(({ type }) => type)
    for (const type of expectedTypes(status)) {
      const times = types.filter((each) => each === type).length
      if (times !== 1) breaches.push(`invoice ${_id} (${status}) announced ${type} ${times} times`)
    }
    const settled = types.filter((type) => /^invoice\.(paid|overpaid|cancelled|expired)$/.test(type))
    if (settled.length > 1) breaches.push(`invoice ${_id} announced ${settled.join(' and ')}`)
  }
  return { count: events.length, breaches }
}

function expectedTypes(status: string): readonly string[] {
  const opened = ['invoice.created', 'invoice.pending']
  return status === 'pending' ? opened : [...opened, `invoice.${status}`]
}

async function checkDeliveries(evidence: Evidence) {
  const { db, arrivals, endpoints } = evidence
  const breaches: string[] = []
  const bodies = new Map<string, string>()
  const taken = new Map<string, number>()
  for (const arrival of arrivals) {
    const { eventId, deliveryId, endpoint, body, signature, at, status } = arrival
    const digest = createHash('sha256').update(body).digest('hex')
    if ((bodies.get(eventId) ?? digest) !== digest) breaches.push(`event ${eventId} came with two bodies`)
    bodies.set(eventId, digest)
    try {
      verifyWebhook(body, signature, endpoints[endpoint].secret, { now: () => at })
    } catch (error) {
      breaches.push(`delivery ${deliveryId} does not verify: ${error instanceof Error ? error.message : String(error)}`)
    }
    if (status === 200) taken.set(deliveryId, (taken.get(deliveryId) ?? 0) + 1)
  }
  const now = new Date()
  const rows = await db.collection(WEBHOOK_DELIVERIES).find(owned(evidence)).toArray()
  const ids = new Set(rows.map((row) => row._id))
  for (const id of taken.keys()) if (!ids.has(id)) breaches.push(`delivery ${id} arrived and is not stored`)
  const waiting = rows.filter((row) => row.status === 'pending' && row.attempt > 0 && row.dueAt > now)
  for (const row of rows) {
    const { _id, status, attempt, lastError } = row
    if (waiting.includes(row)) continue
    if (!taken.has(_id)) breaches.push(`delivery ${_id} never arrived; it is ${status} after ${attempt} (${lastError})`)
    else if (status !== 'succeeded') breaches.push(`delivery ${_id} arrived and is ${status}`)
  }
  const perEvent = new Map<string, number>()
  for (const row of rows) perEvent.set(row.eventId, (perEvent.get(row.eventId) ?? 0) + 1)
  const wanted = Object.keys(endpoints).length
  const events = await db
    .collection(EVENTS)
    .find(owned(evidence), { projection: { _id: 1 } })
    .toArray()
  for (const { _id } of events)
    if (perEvent.get(_id) !== wanted) breaches.push(`event ${_id} has ${perEvent.get(_id) ?? 0} deliveries`)
  for (const id of bodies.keys()) if (!perEvent.has(id)) breaches.push(`event ${id} arrived and is not stored`)
  const repeated = [...taken.values()].reduce((sum, times) => sum + times - 1, 0)
  const attempts = new Map(rows.map((row) => [row._id, row.attempt]))
  // Each recorded attempt may have been accepted once; further ones were sent by a process that lost its record.
  const duplicates = [...taken].reduce((sum, [id, times]) => sum + Math.max(0, times - (attempts.get(id) ?? 0)), 0)
  const answersLost = repeated - duplicates
  return { breaches, duplicates, answersLost, delivered: taken.size, waiting: waiting.length }
}

/** An attempt may begin only after the pause that follows the end of the previous one. */
async function checkTiming(evidence: Evidence) {
  const { db, arrivals } = evidence
  const deliveries = await db.collection(WEBHOOK_DELIVERIES).find(owned(evidence)).toArray()
  const own = deliveries.flatMap(({ _id, attempts = [] }) =>
    attempts.map((attempt) => ({ ...attempt, deliveryId: _id, isCounted: true })),
  )
  const others = await db
    .collection(WEBHOOK_ATTEMPTS)
    .find({ deliveryId: { $in: deliveries.map(({ _id }) => _id) } })
    .toArray()
  const recorded = new Set(own.map(({ deliveryId, token }) => `${deliveryId}:${token}`))
  const lost = others.filter(({ _id }) => !recorded.has(_id)).map((attempt) => ({ ...attempt, isCounted: false }))
  const attempts = [...own, ...lost]
  return { count: attempts.length, breaches: earlyRetries(attempts, arrivals) }
}
