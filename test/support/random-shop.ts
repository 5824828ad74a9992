import type { Database } from '#shared/db/connection/connect.ts'
import { invoiceToDocument } from '#shared/db/invoices/invoice-mapping.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { paymentToDocument } from '#shared/db/payments/payment-mapping.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { REFUNDS } from '#shared/db/refunds/refund-model.ts'
import { ASSET_IDS, type AssetId, FIAT_CODES, type FiatCode } from '#shared/domain/enumerations.ts'
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

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const COINS: readonly AssetId[] = ['usdt_ethereum', 'usdc_ethereum', 'eth_ethereum', 'eth_base', 'btc_bitcoin']

/** Whose shop, and the first moment of its three months. */
interface ShopPlace {
  readonly workspaceId: string
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

type Pay = { readonly asset?: AssetId; readonly base: bigint; readonly at: number }

/** Plays one random invoice through the state machine, stores what it left, and returns what the ledger expects. */
export async function playInvoice(db: Database, random: Prng, place: ShopPlace, number: number): Promise<ShopInvoice> {
  const { terms, method } = openOne(random, place, number)
  const [quote] = method.quotes
  const due = quote?.amountBase ?? 1n
  let now = terms.createdAt
  let { state } = openInvoice({
    ...{ mode: 'live', createdAt: now, expiresAt: now + HOUR, endsWithQuote: false, paymentMethod: method },
  })
  const payments: Payment[] = []
  const refunds: Refund[] = []
  const book = createLedgerBook(terms, { asset: method.asset, due }, (asset) => place.catalog.asset(asset).decimals)
  const apply = (event: InvoiceEvent = { type: 'payments_changed' }): boolean => {
    const named = { terms, state: { ...state, ledger: payments.map(({ key }) => ({ payment: key })) } } as never
    // The price when it was seen: money that is late by minutes counts, by days it does not.
    const observations = observeKnownPayments(named, payments).map((one): PaymentObservation => {
      return { ...one, rateSeen: quote?.fiatPerAsset ?? null }
    })
    const result = transition(state, { observations, event, at: now, knownUntil: now, refunds })
    if (result.outcome !== 'refused') state = result.state
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
    const isOnTime = (payment?.firstSeenAt ?? 0) <= terms.createdAt + 2 * HOUR
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
  const sendBack = (asset: AssetId, base: bigint, at: number): void => {
    const market = random.chance(0.9) ? marketOf(random, place, asset, at) : null
    const refund = refundOf({ terms, asset, base, at, market }, `${terms.id}-r${refunds.length}`)
    refunds.push(refund)
    book.refund(refund, at)
  }
  playStory(
    random,
    number - place.numbersAfter - 1,
    { due, begin: terms.createdAt, method },
    { pay, confirm, vanish, accept, sendBack, apply, to: (at) => (now = at) },
  )
  await store(db, { terms, state, payments, refunds })
  return { terms, status: state.status, paidAt: state.paidAt, expected: book.movements() }
}

interface Moves {
  readonly pay: (pay: Pay) => string
  readonly confirm: (key: string, at: number) => void
  readonly vanish: (key: string, at: number) => void
  readonly accept: (at: number, chosen: readonly { readonly payment: string; readonly valueBase: bigint }[]) => void
  readonly sendBack: (asset: AssetId, base: bigint, at: number) => void
  readonly apply: (event?: InvoiceEvent) => boolean
  readonly to: (at: number) => void
}

const STORIES = [
  'exact',
  'exact',
  'parts',
  'over',
  'short',
  'tolerated',
  'wrong',
  'late',
  'tooLate',
  'reorg',
  'unpaid',
  'again',
  'returned',
] as const

/**
 * One of the ways in which money comes, or does not. Each is taken in its turn, and whole the first time: a shop with as many invoices as
 * there are ways has every kind of movement.
 */
function playStory(
  random: Prng,
  turn: number,
  { due, begin, method }: { readonly due: bigint; readonly begin: number; readonly method: PaymentMethod },
  { pay, confirm, vanish, accept, sendBack, apply, to }: Moves,
): void {
  const story = STORIES[turn % STORIES.length]
  const may = (chance: number): boolean => random.chance(chance) || turn < STORIES.length
  const soon = () => random.between(1, 20) * MINUTE
  const later = () => random.between(1, 30) * DAY + random.between(0, 86_399) * 1_000
  const seen = begin + soon()
  const whole = (base: bigint, at = seen): string => {
    const key = pay({ base, at })
    confirm(key, at + soon())
    return key
  }
  const expire = (at: number): void => {
    to(at)
    apply({ type: 'deadline_reached' })
  }
  if (story === 'unpaid') expire(begin + 2 * HOUR)
  if (story === 'exact') whole(due)
  if (story === 'over') whole(due + due / BigInt(random.between(3, 90)))
  if (story === 'again') {
    whole(due)
    confirm(pay({ base: due, at: seen + 25 * MINUTE }), begin + later())
  }
  if (story === 'returned') {
    whole(due)
    sendBack(method.asset, due / 4n, begin + 2 * DAY)
    // Too late to count, and sent back as a whole.
    whole(due, begin + 3 * DAY)
    sendBack(method.asset, due, begin + 4 * DAY + later())
  }
  if (story === 'tolerated') whole(due - due / 2_000n)
  if (story === 'parts') {
    const first = due / BigInt(random.between(2, 9))
    whole(first)
    whole(due - first, seen + 25 * MINUTE)
  }
  if (story === 'short') {
    whole(due / BigInt(random.between(2, 5)))
    expire(begin + 3 * HOUR)
    if (may(0.7)) accept(begin + later(), [])
  }
  if (story === 'late') {
    expire(begin + HOUR + MINUTE)
    whole(due, begin + HOUR + random.between(2, 50) * MINUTE)
  }
  if (story === 'tooLate') {
    expire(begin + 2 * HOUR)
    whole(due, begin + 3 * DAY)
    if (may(0.6)) accept(begin + 4 * DAY + later(), [])
  }
  if (story === 'wrong') {
    const asset = random.pick(ASSET_IDS.filter((id) => id !== method.asset))
    const base = due + BigInt(random.between(0, 1_000_000))
    const key = pay({ asset, base, at: seen })
    confirm(key, seen + soon())
    expire(begin + 2 * HOUR)
    if (may(0.7))
      accept(begin + later(), [{ payment: key, valueBase: due - BigInt(random.between(0, 1)) * (due / 10n) }])
    if (may(0.4)) sendBack(asset, base / BigInt(random.between(1, 4)), begin + 31 * DAY + soon())
  }
  if (story === 'reorg') {
    const key = whole(due)
    const gone = begin + later()
    vanish(key, gone)
    if (may(0.5)) confirm(key, gone + soon() + HOUR)
    return
  }
  if ((story === 'exact' || story === 'over' || story === 'parts') && may(0.4)) {
    sendBack(method.asset, due / BigInt(random.between(1, 5)), begin + later())
  }
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
    ...{ id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${hex}`, workspaceId, mode: 'live', number, createdAt },
    ...{ description: random.pick(['Café', '=SUM(A1)', null]), orderId: random.pick([`-${number}`, `A-${number}`]) },
    ...{ metadata: {}, fiat: { minor: BigInt(random.between(1, 90_000_000)), currency } },
    ...(isRated && { reporting: { currency: reportingCurrency, rate: decimalOf(random), at: createdAt } }),
    customer: { email: random.pick(['ana@example.com', 'ANA@example.com', 'bo@example.com']), name: '@Ana' },
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
    ...{ id, key: `live:${method.network}:${terms.id}:${key}`, mode: 'live', network: method.network, asset },
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

const refundOf = ({ terms, asset, base, at, market }: MovedAmount, id: string): Refund => ({
  ...{ id, workspaceId: terms.workspaceId, mode: 'live', invoiceId: terms.id, asset, network: 'ethereum' },
  ...{ amountBase: base, status: 'sent', tokenHash: id, expiresAt: at, address: '0xcc', addressedAt: at },
  ...{ txHash: `0x${id}`, sentAt: at, market, requestedBy: 'user:a', sentBy: 'user:a', createdAt: at },
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
  await db.collection(INVOICES).insertOne({ ...invoiceToDocument(invoice), claims: [`shop:${terms.id}`] })
  const applied = appliedPayments(state, payments, foldKey(state))
  const rows = payments.map((payment, index) =>
    paymentToDocument({ ...payment, ...applied[index], market: payment.market ?? null }),
  )
  if (rows.length > 0) await db.collection(PAYMENTS).insertMany(rows)
  if (refunds.length > 0) await db.collection(REFUNDS).insertMany(refunds.map(REFUNDS.toDocument))
}
