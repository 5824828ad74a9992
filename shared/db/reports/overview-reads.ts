import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { OF_ANY_TYPE } from '#shared/db/deliveries/delivery-search.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { DeliveryCounts, DeliveryFigures, InvoiceSlot, OverviewSpan } from '#shared/ports/overview.ts'
import { DELIVERY_ROLLUPS, HOUR_MS, INVOICE_ROLLUPS, QUARTER_MS } from './rollup-models.ts'
import { figuresAsOf } from './rollups.ts'

/** First attempts per endpoint from which a percentile is computed. */
const FIRST_ATTEMPTS = 200
/** Without the answers, which may be large. */
const FIGURES_OF_ATTEMPT = { number: 1, durationMs: 1 } as const
const FIGURES = ['made', 'tried', 'firstTry', 'succeeded', 'failed'] as const
const NONE: DeliveryFigures = { made: 0, tried: 0, firstTry: 0, succeeded: 0, failed: 0 }

/** The front page's reads on MongoDB. */
export function createOverviewReads(db: Database) {
  const invoices = db.collection(INVOICES)
  return {
    /** Slots in which something was created or paid, oldest first. The span must begin and end where a slot does, or end in the future. */
    invoices: async (
      { workspaceId, mode, since, until }: OverviewSpan,
      step: 'hour' | 'quarter',
    ): Promise<readonly InvoiceSlot[]> => {
      const stored = await db
        .collection(INVOICE_ROLLUPS)
        .find(
          { workspaceId, mode, at: { $gte: toDate(hourOf(since)), $lt: toDate(until) } },
          { projection: { at: 1, [step === 'hour' ? 'whole' : 'quarters']: 1 } },
        )
        .sort({ at: 1 })
        .toArray()
      return stored
        .flatMap(({ at, whole, quarters = [] }): readonly InvoiceSlot[] =>
          whole === undefined
            ? quarters.map((figures, index) => ({ at: toMs(at) + index * QUARTER_MS, figures }))
            : [{ at: toMs(at), figures: whole }],
        )
        .filter(({ at }) => at >= since && at < until)
    },
    /** Deliveries since the quarter of an hour in which `since` lies. */
    deliveries: (endpointIds: readonly string[], mode: Mode, since: Ms): Promise<readonly DeliveryCounts[]> =>
      Promise.all(
        endpointIds.map(async (endpointId) => {
          const [figures, firstAttemptsMs] = await Promise.all([
            deliveryFigures(db, endpointId, mode, since),
            firstAttempts(db, endpointId, since),
          ])
          return { endpointId, ...figures, firstAttemptsMs }
        }),
      ),
    /** When changes were last counted; null while the figures were never complete. */
    asOf: (): Promise<Ms | null> => figuresAsOf(db),
    /** Whether the workspace has ever been paid in this mode, and has any invoice. */
    beginnings: async (
      workspaceId: string,
      mode: Mode,
    ): Promise<{ readonly invoice: boolean; readonly paid: boolean }> => {
      const any = { projection: { _id: 1 } } as const
      const [invoice, paid] = await Promise.all([
        invoices.findOne({ workspaceId, mode }, { ...any, hint: 'invoice_list' }),
        invoices.findOne({ workspaceId, mode, paidAt: { $type: 'date' } }, { ...any, hint: 'invoice_paid' }),
      ])
      return { invoice: invoice !== null, paid: paid !== null }
    },
  }
}

/** The type of what {@link createOverviewReads} returns. */
export type OverviewReads = ReturnType<typeof createOverviewReads>

const hourOf = (at: Ms): Ms => Math.floor(at / HOUR_MS) * HOUR_MS

async function deliveryFigures(db: Database, endpointId: string, mode: Mode, since: Ms): Promise<DeliveryFigures> {
  const from = toDate(Math.floor(since / QUARTER_MS) * QUARTER_MS)
  const stored = await db
    .collection(DELIVERY_ROLLUPS)
    .find({ endpointId, mode, at: { $gte: from } }, { projection: { figures: 1 } })
    .toArray()
  return stored.reduce<DeliveryFigures>((sum, { figures }) => {
    return Object.fromEntries(FIGURES.map((name) => [name, sum[name] + figures[name]])) as unknown as DeliveryFigures
  }, NONE)
}

async function firstAttempts(db: Database, endpointId: string, since: Ms): Promise<readonly number[]> {
  const newest = await db
    .collection(WEBHOOK_DELIVERIES)
    .find(
      { endpointId, ...OF_ANY_TYPE, createdAt: { $gte: toDate(since) } },
      { projection: { attempts: FIGURES_OF_ATTEMPT }, hint: 'delivery_list_of_endpoint' },
    )
    .sort({ createdAt: -1, _id: -1 })
    .limit(FIRST_ATTEMPTS)
    .toArray()
  const own = newest.map(({ attempts = [] }) => attempts.find(({ number }) => number === 1)?.durationMs ?? null)
  const others = newest.filter((_row, index) => own[index] === null).map(({ _id }) => _id)
  const found = own.filter((durationMs) => durationMs !== null)
  if (others.length === 0) return found
  const elsewhere = await db
    .collection(WEBHOOK_ATTEMPTS)
    .find({ deliveryId: { $in: others }, number: 1 }, { projection: { durationMs: 1 } })
    .toArray()
  return [...found, ...elsewhere.map(({ durationMs }) => durationMs)]
}
