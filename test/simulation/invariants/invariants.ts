import type { DeliveryDocument } from '#shared/db/deliveries/delivery-model.ts'
import type { EventDocument } from '#shared/db/events/event-model.ts'
import type { InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import type { PaymentDocument } from '#shared/db/payments/payment-model.ts'
import type { CursorDocument } from '#shared/db/scanning/cursor-model.ts'
import { must } from '../kernel/violation.ts'
import type { Doc } from '../store/bson-values.ts'
import type { DocumentChange } from '../store/stored-collection.ts'
import type { Arrival, BegunRequest, KnownEndpoint } from '../world/book.ts'
import type { Sim } from '../world/sim.ts'
import { checkArrival, checkDelivery, checkEvent, PAUSES_MS } from './delivery-changes.ts'
import { createHistory } from './history.ts'
import { checkInvoiceChange } from './invoice-changes.ts'
import { checkLiveness } from './liveness.ts'
import { checkCursorChange, checkPaymentChange } from './payment-changes.ts'
import { createRequestChecks } from './request-begins.ts'

/** Collections whose writes are heartbeats: they keep nobody awake. */
const HEARTBEATS = new Set(['leases', 'chain_cursors', 'rate_snapshots', 'key_material', 'addresses', 'coin_balances'])

const as = <T>(row: Doc | null): T | null => row as unknown as T | null

/**
 * Every guarantee. Those about single writes are asked as the writes happen, in the order of the store, so that the first
 * wrong one is named; those about the end are asked when all is quiet.
 */
export function createInvariants(sim: () => Sim) {
  const history = createHistory(sim)
  const goneAt = new Map<string, number>()
  const requests = createRequestChecks(sim, goneAt)
  const broken: unknown[] = []
  let started = false

  const evaluate = ({ collection, before, after }: DocumentChange): void => {
    const checks: Readonly<Record<string, () => void>> = {
      invoices: () => {
        must(after !== null, 'S11', () => `invoice ${String(before?.['_id'])} was deleted`)
        sim().book.states.set(
          `${String(after['_id'])} ${(after['updatedAt'] as Date).getTime()}`,
          String(after['status']),
        )
        checkInvoiceChange(history, as<InvoiceDocument>(before), after as unknown as InvoiceDocument)
      },
      payments: () => {
        must(after !== null, 'S11', () => `payment ${String(before?.['key'])} was deleted`)
        checkPaymentChange(sim(), as<PaymentDocument>(before), after as unknown as PaymentDocument)
      },
      chain_cursors: () => {
        if (after !== null) checkCursorChange(sim(), as<CursorDocument>(before), after as unknown as CursorDocument)
      },
      events: () => checkEvent(history, as<EventDocument>(before), as<EventDocument>(after)),
      webhook_deliveries: () => {
        if (before === null && after !== null) requests.inserted(after as unknown as DeliveryDocument)
        if (before !== null && after === null) requests.removed(before as unknown as DeliveryDocument)
        noteOutcome(sim(), as<DeliveryDocument>(before), as<DeliveryDocument>(after))
        checkDelivery(sim(), as<DeliveryDocument>(before), as<DeliveryDocument>(after))
      },
      webhook_endpoints: () => {
        if (after === null) goneAt.set(String(before?.['_id']), sim().scheduler.now)
      },
      mails: () => checkSecrets(collection, after),
      exceptions: () => checkSecrets(collection, after),
      webhook_attempts: () => checkSecrets(collection, after),
    }
    checks[collection]?.()
  }

  return {
    start() {
      started = true
    },
    changed(change: DocumentChange): void {
      if (!started) return
      if (!HEARTBEATS.has(change.collection) && !isTaken(change)) sim().touch()
      // Inside of the store's write nothing may be thrown: the writer would take it for an answer.
      try {
        evaluate(change)
      } catch (error) {
        broken.push(error)
      }
    },
    arrived(arrival: Arrival, endpoint: KnownEndpoint): void {
      sim().touch()
      checkArrival(sim(), arrival, endpoint, goneAt)
    },
    began(begun: BegunRequest): void {
      // Inside of the sender nothing may be thrown: it would take it for a failed request.
      try {
        requests.began(begun)
      } catch (error) {
        broken.push(error)
      }
    },
    fail(error: unknown): void {
      broken.push(error)
    },
    check(): void {
      if (broken.length > 0) throw broken[0]
    },
    finish(): void {
      checkLiveness(sim(), history)
    },
  }
}

/** A sweep took a payment in hand: the mark of that moves on and nothing else does. */
function isTaken({ collection, before, after }: DocumentChange): boolean {
  if (collection !== 'payments' || before === null || after === null) return false
  return before['version'] === after['version'] && before['dirtyAt'] !== undefined && after['dirtyAt'] !== undefined
}

/** S13: what people read later holds no secret. */
function checkSecrets(collection: string, row: Doc | null): void {
  const text = row === null ? '' : JSON.stringify(row)
  must(!/whsec_|xpub/.test(text), 'S13', () => `${collection} ${String(row?.['_id'])} holds a secret`)
}

/** Remembers when the sender that recorded an attempt learnt how it ended: of several senders, the one that the next due time fits best. */
function noteOutcome(sim: Sim, before: DeliveryDocument | null, after: DeliveryDocument | null): void {
  if (before === null || after === null || after.attempt === before.attempt) return
  const { _id: id, attempt, dueAt } = after
  const expected = dueAt.getTime() - (PAUSES_MS[attempt - 1] ?? 0)
  const distance = (at: number) => Math.abs(at - expected)
  const [answeredAt] = (sim.book.answeredAt.get(id) ?? []).sort((one, other) => distance(one) - distance(other))
  if (answeredAt === undefined) sim.recordedAt.delete(id)
  else sim.recordedAt.set(id, { attempt, answeredAt })
  sim.book.answeredAt.delete(id)
}
