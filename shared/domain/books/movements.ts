import type { AssetId, PaymentState } from '#shared/domain/enumerations.ts'
import type { InvoiceState, InvoiceTerms, LedgerRow, Ms, PaymentMethod, Quote } from '#shared/domain/invoice/model.ts'
import { later, latestQuote, quoteAt, quoteHolding, wholeBase } from '#shared/domain/invoice/quote-window.ts'
import { dearestQuote, holdingMethod, isDust } from '#shared/domain/invoice/totals.ts'
import { fiatAtRate, halfUp, larger, smaller } from '#shared/domain/money/money.ts'

/** The market's price of a coin in the currency of an invoice when money moved, without spread. */
export interface MarketRate {
  readonly fiatPerAsset: string
  /** Of the coin, so that a value follows from what is kept alone. */
  readonly decimals: number
  /** Time of the snapshot that it was read from. */
  readonly at: Ms
  readonly sources: readonly string[]
  readonly fxSources: readonly string[]
}

/** A payment of an invoice, as far as the books need it. */
export interface BookedPayment {
  readonly id: string
  /** Transfer key, by which the invoice's ledger names it. */
  readonly key: string
  readonly asset: AssetId | null
  readonly network: PaymentMethod['network']
  readonly matchKey: string
  readonly amountBase: bigint
  readonly kind: 'onchain' | 'simulated'
  readonly state: PaymentState
  readonly firstSeenAt: Ms
  /** When it was confirmed, when that was taken back, when it was confirmed again, and so on. */
  readonly bookedAt: readonly Ms[]
  readonly counted: boolean
  /** Null where no rate was known; absent until it was looked up, and for dust. */
  readonly market?: MarketRate | null
}

/** A refund of an invoice, as far as the books need it. */
export interface BookedRefund {
  readonly id: string
  readonly asset: AssetId
  readonly amountBase: bigint
  /** Null until it was sent. */
  readonly sentAt: Ms | null
  /** Of the time it was sent; null before, and where no rate was known. */
  readonly market: MarketRate | null
}

/** An invoice, as far as the books need it. */
export interface BookedInvoice {
  readonly terms: Pick<InvoiceTerms, 'id' | 'fiat'>
  readonly state: Pick<InvoiceState, 'status' | 'expiresAt' | 'paymentMethods' | 'ledger'>
}

/**
 * What a row of the books is about. A correction moves no coin. Money that had come counts now, or does not any more: a person decided so, or another
 * payment. Or, with a refund, what had gone back was other money than it seemed, because some of it counts otherwise now or left its chain.
 */
export const MOVEMENT_KINDS = ['receipt', 'refund', 'reversal', 'correction'] as const
export type MovementKind = (typeof MOVEMENT_KINDS)[number]

/** A row of the books. Amounts are signed: what came is positive, what went is negative. */
export interface Movement<P extends BookedPayment = BookedPayment, R extends BookedRefund = BookedRefund> {
  /** Unique, and the same however often the books are read. */
  readonly id: string
  readonly kind: MovementKind
  readonly at: Ms
  readonly asset: AssetId
  /** Base units of `asset`; zero for a correction. */
  readonly amountBase: bigint
  /** The part of the coin that pays the price, and the part above the price; both zero for money that does not count. */
  readonly appliedBase: bigint
  readonly excessBase: bigint
  /** Balance at the price's rate before and after it, minor units: of what counts, and where it is about a refund of what went back, which is negative. */
  readonly before: bigint
  readonly after: bigint
  /** Parts of `after - before`: what pays the price, and what is above it. What is about a refund has neither. */
  readonly appliedMinor: bigint
  readonly excessMinor: bigint
  /** Whether it has a value at the price's rate. */
  readonly counted: boolean
  /** The price at whose rate it is valued; null without one. */
  readonly quote: Quote | null
  readonly market: MarketRate | null
  /** Value at `market`, minor units, signed, rounded half up; null without a rate, zero for a correction. */
  readonly marketMinor: bigint | null
  readonly payment: P | null
  readonly refund: R | null
}

/**
 * The books of an invoice: every movement of money, oldest first. A payment is booked when it is confirmed, with its own coin and amount; a
 * reorganisation that takes it back is a separate row, and so is a later decision of a person that it counts. A row follows from what was
 * before it alone, so what happens later never changes it. At the price's rate the rows add up exactly: only the balance is rounded (half up), so
 * that money which pays the price to the base unit is worth the price.
 */
export function movementsOf<P extends BookedPayment, R extends BookedRefund>(
  invoice: BookedInvoice,
  payments: readonly P[],
  refunds: readonly R[],
): readonly Movement<P, R>[] {
  const book = openBook(invoice)
  return [...payments.flatMap((payment) => paymentEvents(invoice, payment)), ...refunds.flatMap(refundEvents)]
    .sort((one, other) => one.at - other.at || one.order - other.order || (one.id < other.id ? -1 : 1))
    .flatMap((event) => enter(book, event) as readonly Movement<P, R>[])
}

/** What a movement is worth at the price's rate, minor units, signed. */
export const priceValue = ({ before, after }: Pick<Movement, 'before' | 'after'>): bigint => after - before

/** Whether no rate was known for it. None is looked up for dust, which anybody can send: it has no value at market, and no sum lacks it. */
export const lacksRate = ({ marketMinor, payment }: Pick<Movement, 'marketMinor' | 'payment'>): boolean =>
  marketMinor === null && (payment === null || payment.market !== undefined)

interface BookEvent {
  readonly id: string
  readonly kind: MovementKind
  readonly at: Ms
  /** Of events at the same time. */
  readonly order: number
  readonly payment: BookedPayment | null
  readonly refund: BookedRefund | null
}

/** Its confirmations and what took them back, in their order, also when a clock was set back between them. */
function turnsOf(payment: BookedPayment): readonly BookEvent[] {
  return payment.bookedAt.map((_at, index, times): BookEvent => {
    const kind = index % 2 === 0 ? 'receipt' : 'reversal'
    const at = times.slice(0, index + 1).reduce(later)
    return { id: index === 0 ? payment.id : `${payment.id}:${index}`, kind, at, order: index, payment, refund: null }
  })
}

function paymentEvents({ state }: BookedInvoice, payment: BookedPayment): readonly BookEvent[] {
  if (payment.asset === null) return []
  const turns = turnsOf(payment)
  const { bookings = [] } = state.ledger.find((row) => row.payment === payment.key) ?? {}
  // The first one says what the receipt is worth; whatever the clocks of processes say, others come after it.
  const corrections = bookings.slice(1).map((booking, index): BookEvent => {
    const at = later(booking.at, turns[0]?.at ?? booking.at)
    return { id: `${payment.id}:worth:${index + 1}`, kind: 'correction', at, order: 900 + index, payment, refund: null }
  })
  return [...turns, ...corrections]
}

function refundEvents(refund: BookedRefund): readonly BookEvent[] {
  if (refund.sentAt === null) return []
  return [{ id: refund.id, kind: 'refund', at: refund.sentAt, order: 1_000, payment: null, refund }]
}

/** Money of one coin that is confirmed and was not refunded: what counts, with its parts of the price, and what does not. Below zero where more went back. */
interface Purse {
  countedBase: bigint
  countedParts: bigint
  besideBase: bigint
  /** The last one of the coin. */
  refund: BookedRefund | null
}

/** An invoice's books while they are read. */
interface Book {
  readonly invoice: BookedInvoice
  readonly rows: ReadonlyMap<string, LedgerRow>
  /** Parts that make the whole price. */
  readonly whole: bigint
  /** What each confirmed payment is worth, by transfer key. */
  readonly held: Map<string, Worth>
  readonly purses: Map<AssetId, Purse>
  /** Parts of the price that money which counts pays, and that went back. */
  paid: bigint
  sentBack: bigint
}

function openBook(invoice: BookedInvoice): Book {
  const { ledger, paymentMethods } = invoice.state
  const wholes = new Set(paymentMethods.flatMap(({ quotes }) => quotes.map(wholeBase)))
  return {
    ...{ invoice, rows: new Map(ledger.map((row) => [row.payment, row])) },
    // A base unit of every quote is a whole number of parts.
    whole: [...wholes].reduce((product, base) => product * base, 1n),
    ...{ held: new Map(), purses: new Map(), paid: 0n, sentBack: 0n },
  }
}

function enter(book: Book, event: BookEvent): readonly Movement[] {
  const { payment, refund, kind } = event
  if (refund !== null) return [sendBack(book, event, refund)]
  if (payment === null || payment.asset === null) return []
  const { asset } = payment
  const movement = kind === 'correction' ? correct(book, event, payment, asset) : receive(book, event, payment, asset)
  return [movement, regroup(book, event, asset)].filter((one) => one !== null)
}

function receive(book: Book, event: BookEvent, payment: BookedPayment, asset: AssetId): Movement {
  const { kind, id, at } = event
  const { key } = payment
  const isReceipt = kind === 'receipt'
  const sign = isReceipt ? 1n : -1n
  const worth = isReceipt ? worthOf(book, payment, event.at) : (book.held.get(key) ?? NOTHING)
  const purse = purseOf(book, asset)
  if (worth.parts > 0n) purse.countedBase += sign * payment.amountBase
  else purse.besideBase += sign * payment.amountBase
  purse.countedParts += sign * worth.parts
  if (isReceipt) book.held.set(key, worth)
  else book.held.delete(key)
  const amountBase = sign * payment.amountBase
  return {
    ...{ id, kind, at, asset, amountBase, payment, refund: null, counted: worth.parts > 0n, quote: worth.quote },
    ...move(book, amountBase, sign * worth.parts),
    ...valued(book, amountBase, payment.market ?? null),
  }
}

function correct(book: Book, event: BookEvent, payment: BookedPayment, asset: AssetId): Movement | null {
  const former = book.held.get(payment.key)
  const worth = worthOf(book, payment, event.at)
  if (former === undefined || former.parts === worth.parts) return null
  book.held.set(payment.key, worth)
  const purse = purseOf(book, asset)
  const parts = worth.parts - former.parts
  purse.countedParts += parts
  const turn = former.parts === 0n ? 1n : worth.parts === 0n ? -1n : 0n
  const base = turn * payment.amountBase
  purse.countedBase += base
  purse.besideBase -= base
  return {
    ...{ id: event.id, kind: event.kind, at: event.at, asset, amountBase: 0n, payment, refund: null, counted: true },
    ...{ quote: worth.quote, market: payment.market ?? null, marketMinor: 0n },
    ...move(book, base, parts),
  }
}

/** Money that counts for nothing goes back first: the refund of a second payment takes nothing from the sale. Nor does one of money that is gone. */
function sendBack(book: Book, { id, kind, at }: BookEvent, refund: BookedRefund): Movement {
  const { asset, amountBase: base, market } = refund
  const purse = purseOf(book, asset)
  const besideBase = smaller(base, larger(purse.besideBase, 0n))
  const countedBase = smaller(base - besideBase, larger(purse.countedBase, 0n))
  const parts = countedBase === 0n ? 0n : (larger(purse.countedParts, 0n) * countedBase) / purse.countedBase
  purse.besideBase -= base - countedBase
  purse.countedBase -= countedBase
  purse.refund = refund
  return {
    ...{ id, kind, at, asset, amountBase: -base, payment: null, refund, quote: null },
    ...{ ...giveBack(book, purse, parts), counted: parts > 0n },
    ...valued(book, -base, market),
  }
}

/**
 * What went back was other money of the coin than it seemed where more of one sort went back than is there now: what it took of the price changes.
 * So nothing is left of the price when all of the coin has gone back, whatever came to count, or left its chain, between.
 */
function regroup(book: Book, { id, at }: BookEvent, asset: AssetId): Movement | null {
  const purse = purseOf(book, asset)
  const { refund, countedBase, countedParts, besideBase } = purse
  if (refund === null) return null
  const base =
    besideBase < 0n ? smaller(-besideBase, larger(countedBase, 0n)) : -smaller(besideBase, larger(-countedBase, 0n))
  const share = base === 0n ? 0n : (countedParts * base) / countedBase
  purse.besideBase += base
  purse.countedBase -= base
  const left = countedParts - share
  const isNone = left > 0n ? purse.countedBase <= 0n : purse.countedBase >= 0n
  const balance = giveBack(book, purse, isNone ? countedParts : share)
  if (balance.before === balance.after) return null
  return {
    ...{ id: `${id}:refunds`, kind: 'correction', at, asset, amountBase: 0n, payment: null, refund, quote: null },
    ...{ ...balance, counted: true, market: null, marketMinor: 0n },
  }
}

/** Parts of the price that went back; below zero, that did not. */
function giveBack(book: Book, purse: Purse, parts: bigint) {
  const before = -minorOf(book, book.sentBack)
  book.sentBack += parts
  purse.countedParts -= parts
  const after = -minorOf(book, book.sentBack)
  return { before, after, appliedMinor: 0n, excessMinor: 0n, appliedBase: 0n, excessBase: 0n }
}

/** Moves the balance of what counts, and divides the money at the price: what is above it is excess. */
function move(book: Book, base: bigint, parts: bigint) {
  const { whole } = book
  const price = book.invoice.terms.fiat.minor
  const [from, to] = [book.paid, book.paid + parts]
  book.paid = to
  const [before, after] = [minorOf(book, from), minorOf(book, to)]
  const excessMinor = above(after, price) - above(before, price)
  const excessBase = parts === 0n ? 0n : (base * (above(to, whole) - above(from, whole))) / parts
  const appliedBase = parts === 0n ? 0n : base - excessBase
  return { before, after, appliedMinor: after - before - excessMinor, excessMinor, appliedBase, excessBase }
}

function valued({ invoice }: Book, base: bigint, market: MarketRate | null) {
  const { currency } = invoice.terms.fiat
  const marketMinor = market === null ? null : fiatAtRate(base, market.decimals, market.fiatPerAsset, currency)
  return { market, marketMinor }
}

function purseOf({ purses }: Book, asset: AssetId): Purse {
  const purse = purses.get(asset) ?? { countedBase: 0n, countedParts: 0n, besideBase: 0n, refund: null }
  purses.set(asset, purse)
  return purse
}

const minorOf = ({ invoice, whole }: Book, parts: bigint): bigint => halfUp(invoice.terms.fiat.minor * parts, whole)
const above = (balance: bigint, most: bigint): bigint => larger(balance - most, 0n)

/** Parts of the price that a payment pays, and the quote at whose rate. */
interface Worth {
  readonly parts: bigint
  readonly quote: Quote | null
}
const NOTHING: Worth = { parts: 0n, quote: null }

function worthOf({ invoice: { state }, rows, whole }: Book, payment: BookedPayment, at: Ms): Worth {
  const row = rows.get(payment.key)
  const active = state.paymentMethods.findLast(({ to }) => to === null)
  if (active === undefined) return NOTHING
  const worth = (quote: Quote, base: bigint): Worth => ({ parts: base * (whole / wholeBase(quote)), quote })
  const own = state.paymentMethods[holdingMethod(state.paymentMethods, payment) ?? -1]
  if (row === undefined) {
    return own === active && isInSum(state, own, payment) ? worth(dearestQuote(active), payment.amountBase) : NOTHING
  }
  const { bookings = [] } = row
  const booking = bookings.findLast((one) => one.at <= at) ?? bookings[0]
  if (booking?.worth === 'accepted' && row.acceptedBase !== null) return worth(latestQuote(active), row.acceptedBase)
  return booking?.worth === 'own' && own !== undefined ? worth(quoteAt(own, row.firstSeenAt), row.amountBase) : NOTHING
}

/** A payment without a row in the ledger that its sum of all others holds. */
function isInSum({ status, expiresAt }: BookedInvoice['state'], own: PaymentMethod, payment: BookedPayment): boolean {
  const isSmall = isDust(own, { amountBase: payment.amountBase, simulated: payment.kind === 'simulated' })
  const isLate = payment.firstSeenAt > expiresAt || own.policy.isUseGone === true
  return (
    payment.counted && status !== 'cancelled' && !isSmall && !isLate && quoteHolding(own, payment.firstSeenAt) !== null
  )
}
