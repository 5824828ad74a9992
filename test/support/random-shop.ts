import type { Database } from '#shared/db/connection/connect.ts'
import { invoiceToDocument } from '#shared/db/invoices/invoice-mapping.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { paymentToDocument } from '#shared/db/payments/payment-mapping.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { REFUNDS } from '#shared/db/refunds/refund-model.ts'
import { type AssetId, FIAT_CODES, type FiatCode, type Mode } from '#shared/domain/enumerations.ts'
import { foldKey } from '#shared/domain/invoice/fold-reading.ts'
import type { InvoiceEvent, PaymentObservation } from '#shared/domain/invoice/invoice-event.ts'
import type { InvoiceState, InvoiceTerms, PaymentMethod } from '#shared/domain/invoice/model.ts'
import { openInvoice } from '#shared/domain/invoice/open-invoice.ts'
import { transition } from '#shared/domain/invoice/transition.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { Refund } from '#shared/ports/refunds.ts'
import { appliedPayments, observeKnownPayments } from '#shared/usecases/invoices/fold-payments.ts'
import type { Prng } from '#test/simulation/kernel/prng.ts'
import { samplePaymentMethod } from './db-samples.ts'
import { createLedgerBook, type ExpectedMovement } from './ledger-book.ts'
import { type Pay, playStory } from './shop-stories.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const COINS: readonly AssetId[] = [
  ...(['usdt_ethereum', 'usdc_ethereum', 'eth_ethereum', 'eth_base', 'btc_bitcoin'] as const),
  ...(['usdt_bsc', 'sol_solana', 'doge_dogecoin'] as const),
]

/** Whose shop, and the first moment of its three months. */
interface ShopPlace {
  readonly workspaceId: string
  readonly mode: Mode
  /** The numbers of its invoices are the next ones. */
  readonly numbersAfter: number
  readonly catalog: Pick<Catalog, 'asset'>
  readonly begin: number
  readonly reportingCurrency: FiatCode
}

/** An invoice of the shop, and what an independent ledger says about it. */
export interface ShopInvoice {
  readonly terms: InvoiceTerms
  readonly status: InvoiceState['status']
  readonly paidAt: number | null
  readonly expected: readonly ExpectedMovement[]
}

/** Plays one random invoice through the state machine, stores what it left, and returns what the ledger expects. */
export async function playInvoice(db: Database, random: Prng, place: ShopPlace, number: number): Promise<ShopInvoice> {
  const { terms, method } = openOne(random, place, number)
  const [quote] = method.quotes
  const due = quote?.amountBase ?? 1n
  let now = terms.createdAt
  let { state } = openInvoice({
    ...{ mode: place.mode, createdAt: now, expiresAt: now + HOUR, endsWithQuote: false, paymentMethod: method },
  })
  const payments: Payment[] = []
  let refunds: readonly Refund[] = []
  let isCancelled = false
  const book = createLedgerBook(terms, { asset: method.asset, due }, (asset) => place.catalog.asset(asset).decimals)
  const apply = (event: InvoiceEvent = { type: 'payments_changed' }): boolean => {
    const named = { terms, state: { ...state, ledger: payments.map(({ key }) => ({ payment: key })) } } as never
    // The price when it was seen: money that is late by minutes counts, by days it does not.
    const observations = observeKnownPayments(named, payments).map((one): PaymentObservation => {
      return { ...one, rateSeen: quote?.fiatPerAsset ?? null }
    })
    const result = transition(state, { observations, event, at: now, knownUntil: now, refunds })
    if (result.outcome !== 'refused') state = result.state
    isCancelled ||= event.type === 'cancel_requested'
    return result.outcome === 'changed'
  }
  const change = (key: string, fields: Partial<Payment>): void => {
    const at = payments.findIndex((payment) => payment.key === key)
    const known = payments[at]
    if (known === undefined) return
    const isTurn = (known.state === 'confirmed') !== (fields.state === 'confirmed')
    const bookedAt = isTurn ? [...known.bookedAt, now] : known.bookedAt
    payments[at] = { ...known, ...fields, bookedAt, version: known.version + 1 }
    apply()
  }
  const pay = ({ asset = method.asset, base, at }: Pay): string => {
    now = at
    const market = random.chance(0.9) ? marketOf(random, place, asset, at) : null
    const payment = paymentOf({ method, terms, asset, base, at, market }, `${number}-${payments.length}`)
    payments.push(payment)
    apply()
    return payment.key
  }
  const confirm = (key: string, at: number): void => {
    now = at
    change(key, { state: 'confirmed', confirmedAt: now })
    const payment = payments.find((one) => one.key === key)
    const isCoin = payment?.asset === method.asset
    const isOnTime = (payment?.firstSeenAt ?? 0) <= terms.createdAt + 2 * HOUR && !isCancelled
    if (payment !== undefined) book.receive(payment, now, isCoin && isOnTime ? payment.amountBase : 0n)
  }
  const vanish = (key: string, at: number): void => {
    now = at
    const payment = payments.find((one) => one.key === key)
    change(key, { state: 'orphaned', confirmedAt: null })
    if (payment !== undefined) book.reverse(payment, now)
  }
  const accept = (at: number, chosen: readonly { readonly payment: string; readonly valueBase: bigint }[]): void => {
    now = at
    if (!apply({ type: 'funds_accepted', payments: chosen })) return
    const all = payments.filter(({ state: is, asset }) => is === 'confirmed' && asset === method.asset)
    const values =
      chosen.length > 0 ? chosen : all.map(({ key, amountBase }) => ({ payment: key, valueBase: amountBase }))
    for (const { payment, valueBase } of values) {
      const found = payments.find((one) => one.key === payment)
      if (found !== undefined) book.accept(found, now, valueBase)
    }
  }
  const prepare = (asset: AssetId, base: bigint, at: number): string => {
    now = at
    const refund = refundOf({ terms, asset, base, at }, `${terms.id}-r${refunds.length}`)
    refunds = [...refunds, refund]
    apply()
    return refund.id
  }
  const endRefund = (id: string, at: number, how: 'sent' | 'withdrawn'): void => {
    now = at
    const sentAt = how === 'sent' ? at : null
    refunds = refunds.map((refund) => {
      if (refund.id !== id) return refund
      const market = sentAt !== null && random.chance(0.9) ? marketOf(random, place, refund.asset, at) : null
      return { ...refund, status: how, sentAt, market, ...(sentAt !== null && { txHash: `0x${id}`, sentBy: 'user:a' }) }
    })
    const refund = refunds.find((one) => one.id === id)
    if (refund !== undefined && how === 'sent') book.refund(refund, at)
    apply()
  }
  const sendBack = (asset: AssetId, base: bigint, at: number): void => {
    endRefund(prepare(asset, base, at), at, 'sent')
  }
  playStory(
    random,
    number - place.numbersAfter - 1,
    { due, begin: terms.createdAt, method },
    { pay, confirm, vanish, accept, sendBack, prepare, endRefund, apply, to: (at) => (now = at) },
  )
  await store(db, { terms, state, payments, refunds })
  return { terms, status: state.status, paidAt: state.paidAt, expected: book.movements() }
}

function openOne(random: Prng, place: ShopPlace, number: number) {
  const { workspaceId, catalog, begin, reportingCurrency } = place
  const currency = random.pick(FIAT_CODES)
  // All over the 60 days, in nine steps.
  const createdAt = begin + (((number - place.numbersAfter - 1) * 7) % 60) * DAY + random.between(0, DAY)
  const asset = random.pick(COINS)
  const { network, family, symbol, decimals } = catalog.asset(asset)
  const due = BigInt(random.between(1_000_000, 2_000_000_000)) * 10n ** BigInt(decimals > 8 ? 9 : 0)
  const sample = samplePaymentMethod(`shop${number}`, createdAt)
  const method: PaymentMethod = {
    ...{ ...sample, asset, network, family, symbol, decimals },
    policy: { ...sample.policy, toleranceBase: due / 1_000n, unitBase: 1n, sendableBase: 0n },
    quotes: sample.quotes.map((quote) => ({
      ...{ ...quote, amountBase: due, fiatPerAsset: decimalOf(random), expiresAt: createdAt + 2 * HOUR },
      provenance: { ...quote.provenance, spreadBps: random.between(0, 200) },
    })),
  }
  const isRated = currency !== reportingCurrency && random.chance(0.8)
  const hex = number.toString(16).padStart(12, '0')
  const time = createdAt.toString(16).padStart(12, '0')
  const terms: InvoiceTerms = {
    ...{
      id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${hex}`,
      workspaceId,
      mode: place.mode,
      number,
      createdAt,
    },
    ...{ description: random.pick(['Café', '=SUM(A1)', null]), orderId: random.pick([`-${number}`, `A-${number}`]) },
    ...{ metadata: {}, fiat: { minor: BigInt(random.between(1, 90_000_000)), currency } },
    ...(isRated && { reporting: { currency: reportingCurrency, rate: decimalOf(random), at: createdAt } }),
    // The last was erased.
    customer: random.pick([
      ...['ana@example.com', 'ANA@example.com', 'bo@example.com'].map((email) => ({ email, name: '@Ana' })),
      { email: null, name: null },
    ]),
    ...{ successUrl: null, cancelUrl: null, paymentLinkId: null, productId: null, source: 'api' },
  }
  return { terms, method }
}

const decimalOf = (random: Prng): string => `${random.between(0, 4_000)}.${random.between(1, 999_999)}`

const marketOf = (random: Prng, { catalog }: ShopPlace, asset: AssetId, at: number) => ({
  ...{ fiatPerAsset: decimalOf(random), decimals: catalog.asset(asset).decimals, at: at - 1_000 },
  ...{ sources: ['kraken', 'coinbase'], fxSources: ['ecb'] },
})

interface MovedAmount {
  readonly terms: InvoiceTerms
  readonly asset: AssetId
  readonly base: bigint
  readonly at: number
  readonly market: Refund['market']
}

function paymentOf(
  { method, terms, asset, base, at, market }: MovedAmount & { readonly method: PaymentMethod },
  key: string,
): Payment {
  const time = at.toString(16).padStart(12, '0')
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${Buffer.from(key).toString('hex').padStart(12, '0').slice(-12)}`
  return {
    ...{
      id,
      key: `${terms.mode}:${method.network}:${terms.id}:${key}`,
      mode: terms.mode,
      network: method.network,
      asset,
    },
    ...{ invoiceId: terms.id, workspaceId: terms.workspaceId, matchKey: method.matchKey, toAddress: method.address },
    ...{ fromAddress: '0xbb', amountBase: base, txHash: `0x${id.replaceAll('-', '')}`, outputIndex: 0, contract: null },
    ...{
      kind: 'onchain',
      state: 'detected',
      block: null,
      requiredConfirmations: 3,
      confirmAt: null,
      confirmedAt: null,
    },
    ...{ bookedAt: [], market, needsFinality: false, spends: [], replacedBy: null, firstSeenAt: at, version: 1 },
    ...{ dirtyAt: null, scanEpoch: 1, counted: false, uncountedReason: null, late: false, opId: null },
    ...{ createdAt: at, updatedAt: at },
  }
}

const refundOf = ({ terms, asset, base, at }: Omit<MovedAmount, 'market'>, id: string): Refund => ({
  ...{ id, workspaceId: terms.workspaceId, mode: terms.mode, invoiceId: terms.id, asset, network: 'ethereum' },
  ...{ amountBase: base, status: 'addressed', tokenHash: id, expiresAt: at, address: '0xcc', addressedAt: at },
  ...{ txHash: null, sentAt: null, market: null, requestedBy: 'user:a', sentBy: null, createdAt: at },
})

async function store(
  db: Database,
  {
    terms,
    state,
    payments,
    refunds,
  }: {
    readonly terms: InvoiceTerms
    readonly state: InvoiceState
    readonly payments: readonly Payment[]
    readonly refunds: readonly Refund[]
  },
): Promise<void> {
  const invoice = { terms, state, outbox: [], idempotency: null, opId: null }
  await db
    .collection(INVOICES)
    .insertOne({ ...invoiceToDocument(invoice), refundSeq: refunds.length, claims: [`shop:${terms.id}`] })
  const applied = appliedPayments(state, payments, foldKey(state))
  const rows = payments.map((payment, index) =>
    paymentToDocument({ ...payment, ...applied[index], market: payment.market ?? null }),
  )
  if (rows.length > 0) await db.collection(PAYMENTS).insertMany(rows)
  if (refunds.length > 0) await db.collection(REFUNDS).insertMany(refunds.map(REFUNDS.toDocument))
}
