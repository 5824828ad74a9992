import { randomBytes } from 'node:crypto'
import type { Database } from '#shared/db/connection/connect.ts'
import { uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { INVOICES, type InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import { paymentKeyDigest } from '#shared/db/payments/payment-mapping.ts'
import { PAYMENTS, type PaymentDocument } from '#shared/db/payments/payment-model.ts'
import { createRollups, ROLLUPS_FACT } from '#shared/db/reports/rollups.ts'
import type { AssetId, Mode } from '#shared/domain/enumerations.ts'
import { displayUnits } from '#shared/domain/money/display.ts'

const DAY_MS = 86_400_000
const DAYS = 28
const FIRST_NUMBER = 3_800
const QUOTE_MS = 1_200_000
/** A hundredth of both coins, in base units. */
const CENT = 10_000n
/** Coins of the template's worth and decimals, so that what is copied from it stays right. */
const COINS: readonly (readonly [symbol: string, asset: AssetId])[] = [
  ['USDT', 'usdt_ethereum'],
  ['USDT', 'usdt_ethereum'],
  ['USDC', 'usdc_ethereum'],
]

/** An invoice of the past, and the payments that paid it. */
interface Copy {
  readonly invoice: InvoiceDocument
  readonly payments: readonly PaymentDocument[]
}

/**
 * Copies a paid invoice with its payments into the four preceding weeks, in both modes, so that charts have data. No event is created for it, and a second
 * run adds nothing.
 */
export async function fillHistory(db: Database, templateId: string): Promise<void> {
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
  const paid = await db.collection(PAYMENTS).find({ invoiceId: templateId }).toArray()
  const now = Date.now()
  for (const mode of ['test', 'live'] as const) {
    const { workspaceId } = template
    if ((await invoices.findOne({ workspaceId, mode, number: FIRST_NUMBER })) !== null) continue
    const copies: Copy[] = []
    for (let day = DAYS; day >= 1; day--) {
      // Busy and quiet days, the same in every run.
      const count = 5 + ((day * 7) % 9) + (day < 14 ? 3 : 0)
      for (let index = 0; index < count; index++) {
        copies.push(copyOf(kept, paid, mode, now - day * DAY_MS + index * 2_400_000, copies.length))
      }
    }
    await db.collection(PAYMENTS).insertMany(copies.flatMap(({ payments }) => payments))
    await invoices.insertMany(copies.map(({ invoice }) => invoice))
  }
  // No figure is counted again for invoices of earlier days: nobody makes them but this.
  await db.collection(INSTALLATION).deleteOne({ _id: ROLLUPS_FACT })
  await createRollups(db).catchUp(now)
}

/** A new id of a moment. */
const idAt = (at: number) =>
  `${uuidLowerBound(at).slice(0, 14)}7${randomBytes(2).toString('hex').slice(1)}-8${randomBytes(2).toString('hex').slice(1)}-${randomBytes(6).toString('hex')}`

function copyOf(
  template: Omit<InvoiceDocument, 'claims'>,
  paid: readonly PaymentDocument[],
  mode: Mode,
  at: number,
  index: number,
): Copy {
  const [symbol, asset] = COINS[index % COINS.length] ?? ['USDT', 'usdt_ethereum']
  const status = index % 11 === 3 ? 'expired' : index % 17 === 5 ? 'cancelled' : index % 23 === 7 ? 'overpaid' : 'paid'
  const isPaid = status === 'paid' || status === 'overpaid'
  const chosen = at + 40_000
  const paidAt = isPaid ? new Date(chosen + 150_000 + ((index * 37) % 200) * 1_000) : null
  const minor = BigInt(4_500 + ((index * 1_931) % 21_000))
  const scaled = (base: string) => String(((BigInt(base) * minor) / BigInt(template.fiat.minor) / CENT) * CENT)
  const _id = idAt(at)
  const payments =
    paidAt === null ? [] : paid.map((payment) => paymentOf(payment, { asset, mode, _id, paidAt, scaled }))
  const row = (key: string) => payments[paid.findIndex((payment) => payment.key === key)]
  const invoice: InvoiceDocument = {
    ...template,
    _id,
    mode,
    number: FIRST_NUMBER + index,
    orderId: `CL-${20_000 + index}`,
    status,
    fiat: { minor: String(minor), currency: 'USD' },
    paymentMethods:
      status === 'cancelled'
        ? []
        : template.paymentMethods.map((paymentMethod) => ({
            ...{ ...paymentMethod, symbol, asset, from: new Date(chosen) },
            quotes: paymentMethod.quotes.map((quote) => {
              const amountBase = scaled(quote.amountBase)
              const amount = displayUnits(BigInt(amountBase), { decimals: paymentMethod.decimals, displayDecimals: 2 })
              return {
                ...quote,
                amountBase,
                amount,
                quotedAt: new Date(chosen),
                expiresAt: new Date(chosen + QUOTE_MS),
              }
            }),
          })),
    ledger: template.ledger.flatMap((known) => {
      const payment = row(known.payment)
      if (payment === undefined || paidAt === null) return []
      const { key, amountBase, firstSeenAt } = payment
      return [{ ...known, payment: key, amountBase, firstSeenAt, bookings: [{ at: paidAt, worth: 'own' as const }] }]
    }),
    createdAt: new Date(at),
    updatedAt: paidAt ?? new Date(at + DAY_MS / 2),
    expiresAt: new Date(chosen + QUOTE_MS),
    paidAt,
    outbox: [],
    lastOps: [],
    exceptions: [],
  }
  return { invoice, payments }
}

/** What a payment of the template is as one that paid a copy. */
function paymentOf(
  payment: PaymentDocument,
  copy: {
    readonly asset: AssetId
    readonly mode: Mode
    readonly _id: string
    readonly paidAt: Date
    readonly scaled: (base: string) => string
  },
): PaymentDocument {
  const { asset, mode, paidAt, scaled } = copy
  const key = `${payment.key}:${copy._id}`
  const times = { confirmedAt: paidAt, bookedAt: [paidAt], createdAt: paidAt, updatedAt: paidAt }
  const seen = new Date(paidAt.getTime() - 60_000)
  const amountBase = scaled(payment.amountBase)
  return {
    ...{ ...payment, ...times, _id: idAt(seen.getTime()), key, keyDigest: paymentKeyDigest(key), invoiceId: copy._id },
    ...{ asset, mode, amountBase, firstSeenAt: seen },
  }
}
