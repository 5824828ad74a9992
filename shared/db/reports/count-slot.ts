import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { uuidLowerBound, uuidTime } from '#shared/db/connection/uuid-time.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { OF_ANY_TYPE } from '#shared/db/deliveries/delivery-search.ts'
import { INVOICES, type InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import {
  type FiguredInvoice,
  figuresOf,
  type MoneyPart,
  mergeFigures,
  partsOfMovement,
  partsOfPaid,
} from '#shared/domain/books/invoice-books.ts'
import { movementsOf } from '#shared/domain/books/movements.ts'
import { reportedMinor } from '#shared/domain/reports/reporting-value.ts'
import { createBookReads } from './book-reads.ts'
import {
  type DeliveryRollupDocument,
  HOUR_MS,
  type InvoiceRollupDocument,
  QUARTER_MS,
  type RollupSlot,
} from './rollup-models.ts'

/** What a count found. */
interface SlotCount {
  /** The fields of the row that hold the figures. */
  readonly figures: Pick<InvoiceRollupDocument, 'whole' | 'quarters'> | Pick<DeliveryRollupDocument, 'figures'>
  /** Documents that were counted. */
  readonly documents: number
}

type CountedInvoice = Pick<InvoiceDocument, '_id' | 'status' | 'createdAt' | 'paidAt' | 'fiat' | 'reporting'> & {
  paymentMethods: readonly { symbol: string; from: Date }[]
}
const PARTS = {
  status: 1,
  createdAt: 1,
  paidAt: 1,
  fiat: 1,
  reporting: 1,
  'paymentMethods.symbol': 1,
  'paymentMethods.from': 1,
} as const
const QUARTERS = [0, 1, 2, 3] as const

/** Counts a slot from what is stored now. Created is the time that an invoice's id carries; it is minted with `createdAt`. */
export async function countSlot(db: Database, slot: RollupSlot): Promise<SlotCount> {
  return slot.of === 'invoices' ? await countInvoices(db, slot) : await countDeliveries(db, slot)
}

async function countInvoices(db: Database, { ownerId: workspaceId, mode, at }: RollupSlot): Promise<SlotCount> {
  const invoices = db.collection(INVOICES)
  const owner = { workspaceId, mode }
  const ids = { $gte: uuidLowerBound(at), $lt: uuidLowerBound(at + HOUR_MS) }
  // The type makes the planner see that the partial index holds every row that is asked for.
  const paidAt = { $type: 'date' as const, $gte: toDate(at), $lt: toDate(at + HOUR_MS) }
  const [created, paid] = await Promise.all([
    invoices.find<CountedInvoice>({ ...owner, _id: ids }, { projection: PARTS, hint: 'invoice_list' }).toArray(),
    invoices.find<CountedInvoice>({ ...owner, paidAt }, { projection: PARTS, hint: 'invoice_paid' }).toArray(),
  ])
  const span = { workspaceId, mode, since: at, until: at + HOUR_MS }
  const books = (
    await createBookReads(db).records(
      span,
      paid.map(({ _id }) => _id),
    )
  ).map(({ invoice, ...records }) => {
    const { payments, refunds } = records
    return { invoice, movements: movementsOf(invoice, payments, refunds) }
  })
  const isIn = (quarter: number, time: number) => Math.floor((time - at) / QUARTER_MS) === quarter
  const quarters = QUARTERS.map((quarter) =>
    figuresOf(
      created.filter(({ _id }) => isIn(quarter, uuidTime(_id))).map(figured),
      paid.filter((row) => row.paidAt !== null && isIn(quarter, toMs(row.paidAt))).map(figured),
      books.flatMap(({ invoice, movements }): readonly MoneyPart[] => {
        const { paidAt, paymentMethods } = invoice.state
        const symbol = paymentMethods.at(-1)?.symbol ?? null
        return [
          ...movements
            .filter((movement) => isIn(quarter, movement.at))
            .flatMap((movement) => partsOfMovement({ terms: invoice.terms, paidAt }, movement)),
          ...(paidAt !== null && isIn(quarter, paidAt) ? partsOfPaid(invoice.terms, paidAt, movements, symbol) : []),
        ]
      }),
    ),
  )
  const documents = created.length + paid.length + books.length
  return { figures: { whole: mergeFigures(quarters), quarters }, documents }
}

function figured({ status, createdAt, paidAt, fiat, reporting, paymentMethods }: CountedInvoice): FiguredInvoice {
  const terms = { fiat: { minor: BigInt(fiat.minor), currency: fiat.currency } }
  const minor =
    reporting === undefined
      ? null
      : reportedMinor({ ...terms, reporting: { ...reporting, at: toMs(reporting.at) } }, reporting.currency)
  return {
    status,
    coinChosen: paymentMethods.length > 0,
    tookMs: paidAt === null ? null : Math.max(0, toMs(paidAt) - toMs(paymentMethods[0]?.from ?? createdAt)),
    currency: fiat.currency,
    minor: fiat.minor,
    ...(minor !== null && reporting !== undefined && { reported: { currency: reporting.currency, minor } }),
    symbol: paymentMethods.at(-1)?.symbol ?? null,
  }
}

interface DeliveryGroup {
  readonly _id: { readonly status: string; readonly attempts: 0 | 1 | 2 }
  readonly count: number
}

async function countDeliveries(db: Database, { ownerId: endpointId, mode, at }: RollupSlot): Promise<SlotCount> {
  const createdAt = { $gte: toDate(at), $lt: toDate(at + QUARTER_MS) }
  const groups = await db
    .collection(WEBHOOK_DELIVERIES)
    .aggregate<DeliveryGroup>(
      [
        { $match: { endpointId, ...OF_ANY_TYPE, createdAt, mode } },
        { $group: { _id: { status: '$status', attempts: { $min: ['$attempt', 2] } }, count: { $sum: 1 } } },
      ],
      { hint: 'delivery_list_of_endpoint' },
    )
    .toArray()
  const of = (matches: (group: DeliveryGroup['_id']) => boolean): number =>
    groups.filter(({ _id }) => matches(_id)).reduce((sum, { count }) => sum + count, 0)
  const figures: DeliveryRollupDocument['figures'] = {
    made: of(() => true),
    tried: of(({ attempts }) => attempts > 0),
    firstTry: of(({ status, attempts }) => status === 'succeeded' && attempts === 1),
    succeeded: of(({ status }) => status === 'succeeded'),
    failed: of(({ status }) => status === 'failed'),
  }
  return { figures: { figures }, documents: figures.made }
}
