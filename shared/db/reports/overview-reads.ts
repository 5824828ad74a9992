import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { ID_TIME_SLACK_MS, uuidFloor } from '#shared/db/connection/uuid-time.ts'
import {
  type AttemptDocument,
  type DeliveryDocument,
  WEBHOOK_ATTEMPTS,
  WEBHOOK_DELIVERIES,
} from '#shared/db/deliveries/delivery-model.ts'
import { OF_ANY_TYPE } from '#shared/db/deliveries/delivery-search.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import type { FiatCode, InvoiceStatus, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { type DeliveryCounts, MAX_ROWS, type OverviewReads, type OverviewSpan } from '#shared/ports/overview.ts'

type Stage = Readonly<Record<string, unknown>>

const TIMES_MAX = 2_000
/** First attempts that a percentile is taken of, per endpoint. */
const FIRST_ATTEMPTS = 200
const PAID_INDEX = { hint: 'invoice_paid' }
const LIST_INDEX = { hint: 'invoice_list' }

/** The front page's reads on MongoDB. Sums are made there, in decimals of 34 digits, so that no amount is rounded. */
export function createOverviewReads(db: Database): OverviewReads {
  const invoices = db.collection(INVOICES)
  const attempts = db.collection(WEBHOOK_ATTEMPTS)
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  return {
    paid: async (span) => {
      type Row = {
        _id: { day: string; currency: FiatCode; symbol?: string }
        minor: { toString(): string }
        count: number
      }
      const rows = await invoices.aggregate<Row>([...paidPipeline(span)], PAID_INDEX).toArray()
      return rows.map(({ _id: { day, currency, symbol }, minor, count }) => {
        return { day, currency, symbol: symbol ?? null, minor: BigInt(minor.toString()), count }
      })
    },
    created: async (span) => {
      type Row = { _id: { day: string; status: InvoiceStatus; coinChosen: boolean }; count: number }
      const rows = await invoices.aggregate<Row>([...createdPipeline(span)], LIST_INDEX).toArray()
      return rows.map(({ _id, count }) => ({ ..._id, count }))
    },
    timesToPaid: async (span) => {
      const rows = await invoices
        .find(paidFilter(span), { ...PAID_INDEX, projection: { paidAt: 1, createdAt: 1, 'locks.from': 1 } })
        .sort({ paidAt: -1 })
        .limit(TIMES_MAX)
        .toArray()
      return rows.flatMap(({ paidAt, createdAt, locks }) => {
        if (paidAt === null) return []
        const from = toMs(locks[0]?.from ?? createdAt)
        return [{ paidAt: toMs(paidAt), tookMs: Math.max(0, toMs(paidAt) - from) }]
      })
    },
    deliveries: (endpointIds, mode, since) =>
      Promise.all(endpointIds.map((endpointId) => countsOf(deliveries, attempts, endpointId, mode, since))),
    beginnings: async (workspaceId, mode) => {
      const any = { projection: { _id: 1 } } as const
      const [invoice, paid] = await Promise.all([
        invoices.findOne({ workspaceId, mode }, { ...any, ...LIST_INDEX }),
        invoices.findOne({ workspaceId, mode, paidAt: { $type: 'date' } }, { ...any, ...PAID_INDEX }),
      ])
      return { invoice: invoice !== null, paid: paid !== null }
    },
  }
}

function paidFilter({ workspaceId, mode, since, until }: OverviewSpan) {
  // The type makes the planner see that the partial index holds every row that is asked for.
  return { workspaceId, mode, paidAt: { $type: 'date' as const, $gte: toDate(since), $lt: toDate(until) } }
}

const dayOf = (field: string, timezone: string) => ({ $dateToString: { date: field, format: '%Y-%m-%d', timezone } })

/** Sums of what was paid, by day, currency and coin; exported for the test that explains it. */
export function paidPipeline(span: OverviewSpan): readonly Stage[] {
  return [
    { $match: paidFilter(span) },
    { $sort: { paidAt: -1 } },
    { $limit: MAX_ROWS },
    {
      $group: {
        _id: {
          day: dayOf('$paidAt', span.zone),
          currency: '$fiat.currency',
          symbol: { $getField: { field: 'symbol', input: { $last: '$locks' } } },
        },
        minor: { $sum: { $toDecimal: '$fiat.minor' } },
        count: { $sum: 1 },
      },
    },
  ]
}

/** Invoices by day of creation and how far they came; ids carry their time. Exported for the test that explains it. */
export function createdPipeline({ workspaceId, mode, since, until, zone }: OverviewSpan): readonly Stage[] {
  const ids = { $gte: uuidFloor(since - ID_TIME_SLACK_MS), $lt: uuidFloor(until + ID_TIME_SLACK_MS) }
  return [
    { $match: { workspaceId, mode, _id: ids, createdAt: { $gte: toDate(since), $lt: toDate(until) } } },
    { $sort: { _id: -1 } },
    { $limit: MAX_ROWS },
    {
      $group: {
        _id: { day: dayOf('$createdAt', zone), status: '$status', coinChosen: { $gt: [{ $size: '$locks' }, 0] } },
        count: { $sum: 1 },
      },
    },
  ]
}

async function countsOf(
  deliveries: mongoose.mongo.Collection<DeliveryDocument>,
  attempts: mongoose.mongo.Collection<AttemptDocument>,
  endpointId: string,
  mode: Mode,
  since: Ms,
): Promise<DeliveryCounts> {
  const [rows, newest] = await Promise.all([
    deliveries
      .aggregate<DeliveryGroup>([...deliveryCountsPipeline(endpointId, mode, since)], {
        hint: 'delivery_list_of_endpoint',
      })
      .toArray(),
    deliveries
      .find(
        { endpointId, ...OF_ANY_TYPE, createdAt: { $gte: toDate(since) } },
        { projection: { _id: 1 }, hint: 'delivery_list_of_endpoint' },
      )
      .sort({ createdAt: -1, _id: -1 })
      .limit(FIRST_ATTEMPTS)
      .toArray(),
  ])
  const first = await attempts
    .find({ deliveryId: { $in: newest.map(({ _id }) => _id) }, number: 1 }, { projection: { durationMs: 1 } })
    .toArray()
  const of = (matches: (group: DeliveryGroup['_id']) => boolean) =>
    rows.filter(({ _id }) => matches(_id)).reduce((sum, { count }) => sum + count, 0)
  return {
    endpointId,
    made: of(() => true),
    tried: of(({ attempts }) => attempts > 0),
    firstTry: of(({ status, attempts }) => status === 'succeeded' && attempts === 1),
    succeeded: of(({ status }) => status === 'succeeded'),
    failed: of(({ status }) => status === 'failed'),
    firstAttemptsMs: first.map(({ durationMs }) => durationMs),
  }
}

interface DeliveryGroup {
  readonly _id: { readonly status: string; readonly attempts: 0 | 1 | 2 }
  readonly count: number
}

/** Deliveries of an endpoint by status and by none, one or more attempts; exported for the test that explains it. */
export function deliveryCountsPipeline(endpointId: string, mode: Mode, since: Ms): readonly Stage[] {
  return [
    { $match: { endpointId, ...OF_ANY_TYPE, createdAt: { $gte: toDate(since) }, mode } },
    { $sort: { createdAt: -1, _id: -1 } },
    { $limit: MAX_ROWS },
    { $group: { _id: { status: '$status', attempts: { $min: ['$attempt', 2] } }, count: { $sum: 1 } } },
  ]
}
