import { claimedBase, type RefundClaim, refundableBase } from '#shared/domain/payment/refundable.ts'
import { fold } from './fold.ts'
import type { Attribution, AuditedAction, Effect, InvoiceEvent, PaymentObservation, Refusal } from './invoice-event.ts'
import {
  activePaymentMethod,
  type InvoiceState,
  isHeld,
  type LedgerRow,
  type Ms,
  nextActionAt,
  type PaymentMethod,
  type Quote,
} from './model.ts'
import { isSimulatable } from './plan-simulation.ts'
import { endOfQuote, later, latestQuote, shareOf, wholeBase } from './quote-window.ts'
import { type Draft, enter, settle } from './settle.ts'
import { claimedOf, holdingMethod, isLive, isSettled, settlement, totals, unpaidOf, withClaim } from './totals.ts'

/** An operator's decision that funds settle the invoice. */
type Acceptance = Extract<InvoiceEvent, { type: 'funds_accepted' }>

/** What it is decided on beside the state. */
interface DecisionInputs {
  readonly at: Ms
  readonly observations: readonly PaymentObservation[]
  readonly refunds: readonly RefundClaim[]
}

/**
 * Accepts confirmed funds as full payment of an invoice that would not settle automatically. Without a list, everything received
 * is accepted. Listed money in another asset counts with the given value and is attached without events; money in
 * the chosen asset counts with its own amount. Listed money that settled the invoice on its own needs no decision. Money that goes back to
 * the customer settles nothing: refused where refunds claim it, other confirmed money of the coin does not cover them, and less than the amount due would be left.
 */
export function decideAcceptance(
  state: InvoiceState,
  event: Acceptance,
  { at, observations, refunds }: DecisionInputs,
): Decision {
  const { status } = state
  if (settledByItself(state, event)) return note(event, { state, effects: [] })
  const open = status === 'pending' || status === 'partial' || status === 'expired' || status === 'cancelled'
  if (!open || activePaymentMethod(state) === null) return { refused: 'not_acceptable' }
  const values = new Map(event.payments.map((one) => [one.payment, one.valueBase]))
  const all = values.size === 0
  const chosen = state.ledger.filter((row) => isLive(row) && (all ? row.counted : values.has(row.payment)))
  const missing = !all && chosen.length < values.size
  if (missing || [...values.values()].some((valueBase) => valueBase <= 0n)) return { refused: 'not_acceptable' }
  if (chosen.some((row) => row.state !== 'confirmed')) return { refused: 'unconfirmed_funds' }
  const accepted = new Set(chosen)
  const ledger = state.ledger.map((row) => (accepted.has(row) ? accept(row, values.get(row.payment)) : row))
  // What refunds claim may be of money that settles nothing until now.
  const attached = withClaim({ ...state, ledger }, observations, refunds)
  const settled = settlement(attached, 'settled')
  const claimed = claimedOf(attached)
  if (settled.base + claimed === 0n) return { refused: 'not_acceptable' }
  const isClaimed =
    (claimed > 0n && settled.isShort) || isClaimedElsewhere(attached, accepted, { observations, refunds })
  if (isClaimed) return { refused: 'refunded_funds' }
  return note(event, enter(attached, settled.isTooMuch ? 'overpaid' : 'paid', at))
}

/** Whether refunds in another coin leave less than what is accepted in it. */
function isClaimedElsewhere(
  attached: InvoiceState,
  accepted: ReadonlySet<LedgerRow>,
  { observations, refunds }: Pick<DecisionInputs, 'observations' | 'refunds'>,
): boolean {
  const keys = new Set([...accepted].map(({ payment }) => payment))
  const others = observations.filter(({ payment }) => keys.has(payment))
  return others.some(({ asset }) => {
    if (asset === null || asset === activePaymentMethod(attached)?.asset || claimedBase(asset, refunds) === 0n)
      return false
    return refundableBase(asset, observations, refunds) < refundableBase(asset, others, [])
  })
}

function settledByItself(state: InvoiceState, event: Acceptance): boolean {
  if (event.by === undefined || event.payments.length === 0 || !isSettled(state)) return false
  const rows = new Map(state.ledger.map((row) => [row.payment, row]))
  return event.payments.every(({ payment }) => {
    const row = rows.get(payment)
    return row?.counted === true && row.eligible && isLive(row)
  })
}

/** One audit entry for each payment that a named person accepted. */
function note(event: Acceptance, draft: Draft): Draft {
  const { payments } = event
  const accepted = payments.length === 0 ? [null] : payments.map(({ payment }) => payment)
  return {
    ...draft,
    effects: [...draft.effects, ...accepted.flatMap((one) => auditWrite('funds_accepted', event, one))],
  }
}

function accept(row: LedgerRow, valueBase: bigint | undefined): LedgerRow {
  const inChosenAsset = row.counted || row.uncountedReason === 'out_of_quote'
  return {
    ...row,
    counted: true,
    uncountedReason: null,
    eligible: true,
    acceptedBase: inChosenAsset ? row.amountBase : (valueBase ?? row.amountBase),
    detected: true,
    confirmed: true,
  }
}

/** The effect of one event on a folded invoice: nothing (null), a refusal, or a new state with its announcements. */
export type Decision = Draft | { readonly refused: Refusal } | null

/** The audit entry of an action; none without a named person. */
export function auditWrite(
  action: AuditedAction,
  { by, reason }: Attribution,
  payment: string | null = null,
): readonly Effect[] {
  if (by === undefined) return []
  return [{ kind: 'audit', action, by, ...(reason !== undefined && { reason }), payment }]
}

type Count = Extract<InvoiceEvent, { type: 'payment_counted' }>

/**
 * Counts one confirmed dust transfer in the active asset by an operator's decision: it enters the sums with its own amount, is
 * announced like any payment, and the status follows from the sums. Dust that already counts is unchanged. Refused on `new` and
 * `cancelled`, for other money, and for dust that is not confirmed.
 */
export function decideCount(
  state: InvoiceState,
  event: Count,
  { observations, at, refunds, knownUntil }: DecisionInputs & { readonly knownUntil: number },
): Decision {
  const row = state.ledger.find((known) => known.payment === event.payment)
  if (row?.counted === true && row.countedByHand === true) return null
  const seen = observations.find((one) => one.payment === event.payment)
  if (row === undefined || seen === undefined || !isCountable(state, row)) return { refused: 'not_countable' }
  const paymentMethod = state.paymentMethods[holdingMethod(state.paymentMethods, seen) ?? -1]
  if (paymentMethod !== activePaymentMethod(state)) return { refused: 'not_countable' }
  if (row.state !== 'confirmed') return { refused: 'unconfirmed_funds' }
  const counted: LedgerRow = {
    ...row,
    counted: true,
    uncountedReason: null,
    eligible: true,
    countedByHand: true,
    // The operator decided about its lateness as well.
    lateAnnounced: true,
  }
  const ledger = state.ledger.map((known) => (known === row ? counted : known))
  const draft = settle(withClaim(fold({ ...state, ledger }, observations, at), observations, refunds), at, knownUntil)
  return { ...draft, effects: [...draft.effects, ...auditWrite('payment_counted', event, event.payment)] }
}

function isCountable(state: InvoiceState, row: LedgerRow): boolean {
  if (state.status === 'new' || state.status === 'cancelled') return false
  return isLive(row) && row.uncountedReason === 'dust'
}

/**
 * Handles a reached deadline: the end of the invoice's life, or confirmations that take too long.
 * Does nothing before it, or in a state without a deadline. The caller must check that the chain has been scanned so far. The scanner
 * may have gone back since then: an invoice whose deadline is after `knownUntil` does not expire.
 */
export function decideDeadline(state: InvoiceState, at: Ms, knownUntil: Ms = at): Decision {
  const due = nextActionAt(state)
  if (due === null || at < due) return null
  if (state.status !== 'confirming') return knownUntil < due ? null : enter(state, 'expired', at)
  const exceptions = [...state.exceptions, { exception: 'stuck' as const, payment: null }]
  return { state: { ...state, exceptions }, effects: [] }
}

/** Cancels an invoice that never received anything in its asset. */
export function decideCancel(state: InvoiceState, attribution: Attribution, at: Ms): Decision {
  const { status } = state
  if (status !== 'new' && status !== 'pending' && status !== 'expired') return { refused: 'not_cancellable' }
  if (totals(state).receivedBase > 0n) return { refused: 'has_funds' }
  return withNote(enter(state, 'cancelled', at), auditWrite('cancelled', attribution))
}

/** Moves the deadline of a test invoice to now; it waits for no scanner. */
export function decideSimulatedExpiry(state: InvoiceState, attribution: Attribution, at: Ms): Decision {
  if (!isSimulatable(state)) return { refused: 'not_simulatable' }
  const expiresAt = at < state.expiresAt ? at : state.expiresAt
  return withNote(enter({ ...state, expiresAt }, 'expired', at), auditWrite('expiry_simulated', attribution))
}

const withNote = (draft: Draft, notes: Draft['effects']): Draft => ({ ...draft, effects: [...draft.effects, ...notes] })

/** Maximum number of distinct assets that a payer may choose for one invoice. */
const PAYMENT_METHODS_MAX = 5
/** Maximum number of quotes on one invoice, over all its payment methods. */
const QUOTES_MAX = 20
/** Outbox entries of an invoice after which switching back and forth is refused: each switch is a webhook. */
const SWITCH_ENTRIES_MAX = 100

type Event<T extends InvoiceEvent['type']> = Extract<InvoiceEvent, { readonly type: T }>

/**
 * Fixes the first asset, or another one while no payment was seen; earlier payment methods close but stay watched. An asset
 * chosen before on the same address continues with the new quote: it is one payment method, however often it is chosen. While a price of the
 * coin is open, a quote on another of its networks has that price, or was prepared from older choices.
 */
export function decideAssetQuoted(state: InvoiceState, event: Event<'asset_chosen'>, at: Ms): Decision {
  const { paymentMethod, methodCount = state.paymentMethods.length } = event
  const earlier = state.paymentMethods.findLast((other) => isSame(other, paymentMethod))
  const refused = quoteRefusal(state, at, earlier?.asset)
  if (refused !== null) return { refused }
  const price = openPrice(state.paymentMethods, paymentMethod.symbol, at)
  const isPrice = price === null || isSamePrice(price, latestQuote(paymentMethod))
  if (state.paymentMethods.length !== methodCount || !isPrice) return { refused: 'payment_methods_changed' }
  if (earlier === undefined)
    return activated({ ...state, paymentMethods: [...state.paymentMethods, paymentMethod] }, paymentMethod, at)
  const { draws = [] } = paymentMethod
  const renewed = withQuotes(earlier, { quotes: paymentMethod.quotes, claim: paymentMethod.claim, draws })
  return activated(
    { ...state, paymentMethods: state.paymentMethods.map((other) => (other === earlier ? renewed : other)) },
    renewed,
    at,
  )
}

/** Makes an earlier payment method the active one again, unchanged, while its latest quote is the open price of its coin. Nothing changes when it is active. */
export function decideQuoteResumed(state: InvoiceState, event: Event<'payment_method_resumed'>, at: Ms): Decision {
  if (!mayChooseAsset(state, at)) return { refused: 'no_open_price' }
  const paymentMethod = state.paymentMethods.findLast((other) => isSame(other, event))
  if (paymentMethod === undefined || !hasOpenPrice(state.paymentMethods, paymentMethod, at))
    return { refused: 'no_open_price' }
  if (paymentMethod === activePaymentMethod(state)) return null
  if (state.eventSeq >= SWITCH_ENTRIES_MAX) return { refused: 'too_many_payment_methods' }
  return activated(state, paymentMethod, at)
}

/**
 * Appends a quote to the active payment method: for the whole price while no payment was seen, for the rest in `partial`, which announces
 * nothing, because nothing arrived. Refused when another payment method is active, another renewal was faster, or more or less is unpaid than the quote was prepared for. Earlier claims on amounts stay reserved,
 * and open quotes of the coin on other networks end.
 */
export function decideQuoteRenewed(state: InvoiceState, event: Event<'quote_renewed'>, at: Ms): Decision {
  const { asset, matchKey, quote, claim, draws = [] } = event
  const active = activePaymentMethod(state)
  const refused = renewalRefusal(state, at)
  if (active === null || refused !== null) return { refused: refused ?? 'no_open_price' }
  const { quoteCount = active.quotes.length } = event
  // The amount is in base units of that asset: on another one it could be a thousandth of the price.
  const isPrepared = active.asset === asset && active.matchKey === matchKey && active.quotes.length === quoteCount
  if (!isPrepared) return { refused: 'payment_methods_changed' }
  if (restBase(state, wholeBase(quote)) !== (quote.rest?.restBase ?? null))
    return { refused: 'payment_methods_changed' }
  const renewed = withQuotes(active, { quotes: [quote], claim, draws })
  const paymentMethods = state.paymentMethods.map((paymentMethod) =>
    paymentMethod === active ? renewed : repriced(paymentMethod, active, quote),
  )
  const draft = pending({ ...state, paymentMethods })
  return state.status === 'partial' ? { ...draft, effects: [] } : draft
}

/** What is unpaid of a price of `wholeBase` base units, rounded up to one; null unless a part of the price was paid. */
export function restBase(state: InvoiceState, wholeBase: bigint): bigint | null {
  const paymentMethod = activePaymentMethod(state)
  return paymentMethod === null || state.status !== 'partial'
    ? null
    : shareOf(wholeBase, unpaidOf(state, paymentMethod, 'seen'))
}

/** The price that a quote freezes: no amount, whose base units differ between the networks of one coin. */
export type OpenPrice = Pick<Quote, 'fiatPerAsset' | 'quotedAt' | 'expiresAt' | 'provenance'>

/** The one open price of a coin on an invoice, whatever network it was quoted on; null when none is open. */
export function openPrice(paymentMethods: readonly PaymentMethod[], symbol: string, at: Ms): OpenPrice | null {
  const quotes = paymentMethods
    .filter((paymentMethod) => paymentMethod.symbol === symbol)
    .flatMap((paymentMethod) => paymentMethod.quotes)
  if (quotes.length === 0) return null
  const newest = quotes.reduce((last, quote) => (quote.quotedAt >= last.quotedAt ? quote : last))
  if (newest.expiresAt <= at) return null
  const { fiatPerAsset, quotedAt, expiresAt, provenance } = newest
  return { fiatPerAsset, quotedAt, expiresAt, provenance }
}

/** Whether the latest quote of a payment method is the open price of its coin. */
export function hasOpenPrice(paymentMethods: readonly PaymentMethod[], paymentMethod: PaymentMethod, at: Ms): boolean {
  const price = openPrice(paymentMethods, paymentMethod.symbol, at)
  return price !== null && isSamePrice(price, latestQuote(paymentMethod))
}

/** Why no asset can be chosen now, according to the state; null when one can. `asset` names one that was chosen before. */
export function quoteRefusal(state: InvoiceState, at: Ms, asset?: PaymentMethod['asset']): Refusal | null {
  if (!mayChooseAsset(state, at)) return 'no_open_price'
  const isKnown = asset !== undefined && state.paymentMethods.some((paymentMethod) => paymentMethod.asset === asset)
  if (!isKnown && state.paymentMethods.length >= PAYMENT_METHODS_MAX) return 'too_many_payment_methods'
  return hasQuotesLeft(state, at) ? null : 'too_many_quotes'
}

/** Why the quote cannot be renewed now, according to the state; null when it can: without money, or with a part of the price. */
export function renewalRefusal(state: InvoiceState, at: Ms): Refusal | null {
  const isPart = state.status === 'partial' && at < state.expiresAt
  const isUnpaid = state.status === 'pending' && mayChooseAsset(state, at)
  if (activePaymentMethod(state) === null || !(isPart || isUnpaid)) return 'no_open_price'
  return hasQuotesLeft(state, at) ? null : 'too_many_quotes'
}

/** Open, and without pending money: later changes of asset or price would change the amount due while the payer pays. */
function mayChooseAsset(state: InvoiceState, at: Ms): boolean {
  if (state.status !== 'new' && state.status !== 'pending') return false
  return at < state.expiresAt && totals(state).receivedBase === 0n
}

/** The same asset at the same address, still held by the invoice. */
function isSame(paymentMethod: PaymentMethod, wanted: Pick<PaymentMethod, 'asset' | 'matchKey'>): boolean {
  return isHeld(paymentMethod) && paymentMethod.asset === wanted.asset && paymentMethod.matchKey === wanted.matchKey
}

/** Quotes of one moment: the same rate, until the same end, on several networks. */
function isSamePrice(left: OpenPrice, right: OpenPrice): boolean {
  return left.quotedAt === right.quotedAt && left.fiatPerAsset === right.fiatPerAsset
}

/** Ends what is open of the coin on another network: the payer holds one price of it, the newest. */
function repriced(paymentMethod: PaymentMethod, active: PaymentMethod, { quotedAt }: Quote): PaymentMethod {
  const isOpen =
    paymentMethod.symbol === active.symbol && endOfQuote(paymentMethod, latestQuote(paymentMethod)) > quotedAt
  return isOpen ? { ...paymentMethod, repricedAt: quotedAt } : paymentMethod
}

function withQuotes(
  paymentMethod: PaymentMethod,
  more: Required<Pick<PaymentMethod, 'quotes' | 'claim' | 'draws'>>,
): PaymentMethod {
  const moved =
    more.claim === paymentMethod.claim
      ? {}
      : { claim: more.claim, formerClaims: [...(paymentMethod.formerClaims ?? []), paymentMethod.claim] }
  const drawn = more.draws.length === 0 ? {} : { draws: [...(paymentMethod.draws ?? []), ...more.draws] }
  return { ...paymentMethod, ...moved, ...drawn, quotes: [...paymentMethod.quotes, ...more.quotes] }
}

/** `lock` is one of the state's; it becomes the active one. */
function activated(state: InvoiceState, paymentMethod: PaymentMethod, at: Ms): Draft {
  const paymentMethods = state.paymentMethods.map((other) => ({
    ...other,
    to: other === paymentMethod ? null : (other.to ?? at),
  }))
  // What refunds claim is an amount in the coin that was active.
  const claim = state.claimedBase === undefined ? {} : { claimedBase: 0n }
  return pending({ ...state, ...claim, status: 'pending' as const, paymentMethods, partialAnnouncedBase: 0n })
}

/** An invoice that ends with its quote ends with the last of all its quotes: choosing again shortens no quote. */
function pending(state: InvoiceState): Draft {
  const ends = state.paymentMethods.map((paymentMethod) => latestQuote(paymentMethod).expiresAt)
  const last = ends.reduce(later)
  return {
    state: { ...state, expiresAt: state.endsWithQuote ? last : state.expiresAt },
    effects: [{ kind: 'event', type: 'invoice.pending', payment: null }],
  }
}

/** A visit to a limited link has its quotes within minutes, until money came: what a payer paid a part of is not taken away from them. */
function hasQuotesLeft({ paymentMethods, visit, status }: InvoiceState, at: Ms): boolean {
  const end = visit?.quotesUntil ?? null
  if (end !== null && at >= end && status !== 'partial') return false
  return paymentMethods.reduce((total, paymentMethod) => total + paymentMethod.quotes.length, 0) < QUOTES_MAX
}
