import type { AssetId, NetworkId } from '../enumerations.ts'
import { sum } from '../payment/refundable.ts'
import type { PaymentObservation } from './invoice-event.ts'
import {
  activePaymentMethod,
  type InvoiceState,
  type LedgerRow,
  type Ms,
  type OthersRow,
  type PaymentMethod,
} from './model.ts'
import {
  baseOf,
  endOfQuote,
  paysShare,
  quoteAt,
  quoteFor,
  quoteHolding,
  quoteOpenedBy,
  toleranceAt,
  unpaidShare,
  type ValuedMoney,
  withinDrift,
} from './quote-window.ts'
import {
  byFirstSeen,
  claimedOf,
  classifyPayment,
  dustBound,
  foreignReason,
  holdingMethod,
  isDust,
  isLate,
  isLive,
  isSettled,
  withoutClaim,
} from './totals.ts'

/** Rows an invoice keeps for single payments; together with the row of all others this bounds the document. */
const ROWS_MAX = 100
/** Rows among them for money that matches no payment method: worthless tokens must not displace real payments. */
export const FOREIGN_ROWS_MAX = 20

/** A payment being placed into the ledger. */
interface Match {
  readonly seen: PaymentObservation
  /** Index of the payment method it matches, or null. */
  readonly hold: number | null
}

interface Evaluation extends Match {
  readonly row: LedgerRow
  readonly known: LedgerRow | undefined
}

/**
 * Rebuilds the ledger from ALL stored payments of an invoice. Nothing is incremented, so the order and the number of
 * folds make no difference. Chooses the payment method whose money counts; never touches the status and announces nothing.
 * `named` are transfer keys of dust that needs a row because an operator is about to count it.
 */
export function fold(
  state: InvoiceState,
  observations: readonly PaymentObservation[],
  at: Ms,
  named: ReadonlySet<string> = new Set(),
): InvoiceState {
  const { placed, paymentMethods, active, rows, isSameMethod } = weigh(state, observations, at, named)
  const completed = complete({ ...state, paymentMethods, ledger: rows }, placed, active)
  const withRow = new Set(completed.map((row) => row.payment))
  const unlisted = placed
    .filter((one) => !withRow.has(one.seen.payment))
    .map((one) => ({ seen: one.seen, paymentMethod: methodAt(paymentMethods, one.hold) }))
  return {
    ...state,
    paymentMethods,
    ledger: completed,
    others: sumOthers(state, unlisted, methodAt(paymentMethods, active)),
    // Sums of another asset cannot be compared with those announced so far.
    partialAnnouncedBase: isSameMethod ? state.partialAnnouncedBase : 0n,
  }
}

/** A rest so small that dust may close it, and where that dust is: live, at `matchKey`, of at least `leastBase` and less than `belowBase` base units. */
export interface SmallRest {
  readonly asset: AssetId
  readonly network: NetworkId
  readonly matchKey: string
  readonly leastBase: bigint
  readonly belowBase: bigint
}

/**
 * The smallest rest that the money among these payments leaves at any time and any quote, as far as one transfer of dust can close it; null when
 * there is none. A fold without other dust than this gives the same result as one with all of it.
 */
export function smallRest(state: InvoiceState, observations: readonly PaymentObservation[], at: Ms): SmallRest | null {
  const { placed, paymentMethods, active, rows } = weigh(state, observations, at, new Set())
  const paymentMethod = methodAt(paymentMethods, active)
  if (paymentMethod === null || isSettled(state) || state.status === 'cancelled') return null
  const belowBase = dustBound(paymentMethod)
  let unpaid = unpaidShare(paymentMethod, [])
  const rests: bigint[] = []
  for (const { firstSeenAt, amountBase } of moneyOf(state, { placed, paymentMethods, paymentMethod, rows })) {
    const value = { quote: quoteAt(paymentMethod, firstSeenAt), amountBase }
    const paid = unpaid.whole - unpaidShare(paymentMethod, [value]).parts
    unpaid = { ...unpaid, parts: unpaid.parts > paid ? unpaid.parts - paid : 0n }
    rests.push(...paymentMethod.quotes.map((quote) => baseOf(quote, unpaid) - toleranceAt(paymentMethod, quote)))
  }
  const [leastBase] = rests.filter((rest) => rest > 0n && rest < belowBase).sort((one, other) => (one < other ? -1 : 1))
  if (leastBase === undefined) return null
  const { asset, network, matchKey } = paymentMethod
  return { asset, network, matchKey, leastBase, belowBase }
}

/** Everything of a fold before dust may complete it. */
interface FoldDraft {
  readonly placed: readonly Match[]
  readonly paymentMethods: readonly PaymentMethod[]
  readonly active: number | null
  readonly rows: readonly LedgerRow[]
  readonly isSameMethod: boolean
}

function weigh(
  state: InvoiceState,
  observations: readonly PaymentObservation[],
  at: Ms,
  named: ReadonlySet<string>,
): FoldDraft {
  const known = new Map(state.ledger.map((row) => [row.payment, row]))
  const placed = [...observations]
    .sort(byFirstSeen)
    .map((seen) => ({ seen, hold: holdingMethod(state.paymentMethods, seen) }))
  const listed = new Set(chooseListed(state, placed, named))
  const evaluated = placed
    .filter((one) => listed.has(one))
    .map((one) => {
      const row = known.get(one.seen.payment)
      return {
        ...one,
        known: row,
        row: classifyPayment(state, methodAt(state.paymentMethods, one.hold), one.seen, row),
      }
    })
  const before = activeIndex(state.paymentMethods)
  const active = chooseQuote(state, evaluated, before)
  const isSameMethod = active === before
  const paymentMethods = isSameMethod ? state.paymentMethods : activate(state.paymentMethods, active, at)
  return { placed, paymentMethods, active, rows: countRows(state, evaluated, active), isSameMethod }
}

/** Rows that count, and payments without rows that enter the sums, oldest first and less what refunds claim. */
function moneyOf(
  state: InvoiceState,
  {
    placed,
    paymentMethods,
    paymentMethod,
    rows,
  }: Pick<FoldDraft, 'placed' | 'paymentMethods' | 'rows'> & { readonly paymentMethod: PaymentMethod },
): readonly Money[] {
  const listed = new Set(rows.map((row) => row.payment))
  const unlisted = placed.flatMap(({ seen, hold }) => {
    const one = { seen, paymentMethod: methodAt(paymentMethods, hold) }
    return !listed.has(seen.payment) && countsUnlisted(state, one, paymentMethod) ? [seen] : []
  })
  const counting = [...rows.filter((row) => row.counted && row.eligible && isLive(row)), ...unlisted].sort(byFirstSeen)
  const money = counting.map((one) => ({
    payment: one.payment,
    firstSeenAt: one.firstSeenAt,
    amountBase: 'acceptedBase' in one ? (one.acceptedBase ?? one.amountBase) : one.amountBase,
  }))
  return withoutClaim(money, claimedOf(state)).left
}

type Money = Pick<PaymentObservation, 'payment' | 'firstSeenAt' | 'amountBase'>

/** Assigned rows are permanent; dust without an operator's decision gets none here, so that it cannot displace real payments. */
function chooseListed(state: InvoiceState, placed: readonly Match[], named: ReadonlySet<string>): readonly Match[] {
  const known = new Set(state.ledger.map((row) => row.payment))
  const kept = placed.filter((one) => known.has(one.seen.payment))
  let foreignLeft = FOREIGN_ROWS_MAX - kept.filter((one) => one.hold === null).length
  const fresh = placed.filter((one) => {
    if (known.has(one.seen.payment)) return false
    const paymentMethod = methodAt(state.paymentMethods, one.hold)
    if (paymentMethod !== null) return !isDust(paymentMethod, one.seen) || named.has(one.seen.payment)
    foreignLeft -= 1
    return foreignLeft >= 0
  })
  return [...kept, ...fresh.slice(0, ROWS_MAX - kept.length)]
}

/**
 * The first payment method that receives funds is the one whose money counts. It stays so while any of that money is live; if all of
 * it vanishes, the next funds decide again. Uncounted dust decides nothing. A paid or cancelled invoice never
 * changes its payment method.
 */
function chooseQuote(state: InvoiceState, evaluated: readonly Evaluation[], before: number | null): number | null {
  if (isSettled(state) || state.status === 'cancelled') return before
  const holdsFunds = evaluated.some(({ known, row, hold }) => {
    if (known?.counted !== true || !isLive(row)) return false
    const paymentMethod = methodAt(state.paymentMethods, hold)
    if (isByHand(row)) return hold === before || row.acceptedBase !== null
    return hold === before && (paymentMethod === null || !isDust(paymentMethod, row))
  })
  if (holdsFunds) return before
  const first = evaluated.find(({ row, hold }) => {
    const paymentMethod = methodAt(state.paymentMethods, hold)
    if (paymentMethod === null || isDust(paymentMethod, row)) return false
    return isLive(row) && row.eligible && quoteFor(paymentMethod, row) !== null
  })
  return first?.hold ?? before
}

/**
 * Decides row by row, oldest first, whether it counts. Each payment needs its own quote: no payment before it frees it from the
 * check of the price. A paid or cancelled invoice is not checked against quotes any more.
 */
function countRows(state: InvoiceState, evaluated: readonly Evaluation[], active: number | null): readonly LedgerRow[] {
  const frozen = isSettled(state) || state.status === 'cancelled'
  const deposits: ValuedMoney[] = []
  return evaluated.map(({ seen, hold, row, known }): LedgerRow => {
    const paymentMethod = methodAt(state.paymentMethods, hold)
    if (isByHand(row)) return { ...row, counted: true, uncountedReason: null }
    if (paymentMethod !== null && isDust(paymentMethod, row)) {
      // Dust that is gone stops counting: other dust may complete the invoice, and both would count when it returns.
      if (known !== undefined && frozen) return row
      return { ...row, counted: false, uncountedReason: 'dust' }
    }
    if (paymentMethod === null || hold !== active) {
      return { ...row, counted: false, uncountedReason: foreignReason(state.paymentMethods, seen, hold) }
    }
    if (known !== undefined && (frozen || !isLive(row)) && known.uncountedReason !== 'inactive_payment_method')
      return row
    if (frozen || !isLive(row) || !row.eligible) return { ...row, counted: true, uncountedReason: null }
    if (!isPriced(paymentMethod, row, deposits)) return { ...row, counted: false, uncountedReason: 'out_of_quote' }
    deposits.push({ quote: quoteAt(paymentMethod, row.firstSeenAt), amountBase: row.amountBase })
    return { ...row, counted: true, uncountedReason: null }
  })
}

/**
 * True when a payment was promised a price: by its own quote, or, once `deposits` before it pay the frozen share of the price, by the last
 * quote, as long as the market has not fallen below that one by more than the frozen bound.
 */
function isPriced(paymentMethod: PaymentMethod, row: LedgerRow, deposits: readonly ValuedMoney[]): boolean {
  if (quoteFor(paymentMethod, row) !== null) return true
  if (!paysShare(paymentMethod, deposits, paymentMethod.policy.depositBps)) return false
  return withinDrift(quoteOpenedBy(paymentMethod, row.firstSeenAt), row.rateSeen, paymentMethod)
}

/**
 * Lets the single dust transfer count that completes the invoice. The rows of a paid or cancelled invoice are not checked again. Dust
 * carries no rate and needs none: the gap that it closes is so small that no fall of the price is worth more.
 */
function complete(state: InvoiceState, placed: readonly Match[], active: number | null): readonly LedgerRow[] {
  const paymentMethod = methodAt(state.paymentMethods, active)
  if (paymentMethod === null || isSettled(state) || state.status === 'cancelled') return state.ledger
  const rows = new Map(state.ledger.map((row) => [row.payment, row]))
  const isCandidate = ({ seen, hold }: Match): boolean => {
    const row = rows.get(seen.payment)
    if (hold !== active || !isLive(seen) || !isDust(paymentMethod, seen) || row?.counted === true) return false
    return (row !== undefined || rows.size < ROWS_MAX) && mayComplete(state, paymentMethod, seen)
  }
  const key = completingDust({
    paymentMethod,
    money: moneyOf(state, { placed, paymentMethods: state.paymentMethods, paymentMethod, rows: state.ledger }),
    dust: placed.filter(isCandidate).map(({ seen }) => seen),
  })
  const seen = placed.find((one) => one.seen.payment === key)?.seen
  if (seen === undefined) return state.ledger
  const row = rows.get(seen.payment) ?? classifyPayment(state, paymentMethod, seen, undefined)
  rows.set(seen.payment, { ...row, counted: true, uncountedReason: null, eligible: true })
  return [...rows.values()].sort(byFirstSeen)
}

/** Within a quote or the grace after it, and, like all late money, within the grace after the invoice. */
function mayComplete(state: InvoiceState, paymentMethod: PaymentMethod, seen: PaymentObservation): boolean {
  const { lateGraceMs, isUseGone } = paymentMethod.policy
  if (isUseGone === true || seen.minedTooLate || seen.firstSeenAt > state.expiresAt + lateGraceMs) return false
  const { firstSeenAt } = seen
  if (quoteHolding(paymentMethod, firstSeenAt) !== null) return true
  return firstSeenAt <= endOfQuote(paymentMethod, quoteOpenedBy(paymentMethod, firstSeenAt)) + lateGraceMs
}

/** Money that counts by an operator's decision. */
function isByHand(row: LedgerRow): boolean {
  return row.acceptedBase !== null || row.countedByHand === true
}

function activate(paymentMethods: readonly PaymentMethod[], active: number | null, at: Ms): readonly PaymentMethod[] {
  return paymentMethods.map((paymentMethod, index) =>
    index === active ? { ...paymentMethod, to: null } : { ...paymentMethod, to: paymentMethod.to ?? at },
  )
}

function activeIndex(paymentMethods: readonly PaymentMethod[]): number | null {
  const index = paymentMethods.findLastIndex((paymentMethod) => paymentMethod.to === null)
  return index < 0 ? null : index
}

function methodAt(paymentMethods: readonly PaymentMethod[], index: number | null): PaymentMethod | null {
  return index === null ? null : (paymentMethods[index] ?? null)
}

/** Input of `completingDust`. */
interface Walk {
  readonly paymentMethod: PaymentMethod
  /** What counts; of dust only what an operator counted. */
  readonly money: readonly Money[]
  /** Live dust of the active payment method that came early enough. */
  readonly dust: readonly PaymentObservation[]
}

/**
 * Transfer key of the single dust transfer that counts because it alone closes the gap between the counted money first seen before
 * it and the settling amount, at the quote it came under; null when there is none. The first money of an invoice is never dust. Depends
 * only on the set of payments, never on the order in which they were found.
 */
function completingDust({ paymentMethod, money, dust }: Walk): string | null {
  if (dust.length === 0) return null
  const isDustKey = new Set(dust.map(({ payment }) => payment))
  const before: ValuedMoney[] = []
  let unpaid = unpaidShare(paymentMethod, before)
  for (const one of [...money, ...dust].sort(byFirstSeen)) {
    const quote = quoteAt(paymentMethod, one.firstSeenAt)
    if (!isDustKey.has(one.payment)) {
      before.push({ quote, amountBase: one.amountBase })
      unpaid = unpaidShare(paymentMethod, before)
      continue
    }
    const missingBase = baseOf(quote, unpaid) - toleranceAt(paymentMethod, quote)
    if (before.length > 0 && missingBase > 0n && one.amountBase >= missingBase) return one.payment
  }
  return null
}

const FNV_OFFSET = 0xcbf29ce484222325n
const FNV_PRIME = 0x100000001b3n
const FNV_MASK = 0xffffffffffffffffn

/** A payment without a row, with its payment method or null. */
interface Candidate {
  readonly seen: PaymentObservation
  readonly paymentMethod: PaymentMethod | null
}

/**
 * Sums the payments without a separate row that count; null when there are none. Only money on time of the active payment method
 * counts there, first seen within one of its quotes: the row cannot store a check of lateness or price, so the rest is left to the operators.
 */
export function sumOthers(
  state: InvoiceState,
  unlisted: readonly Candidate[],
  active: PaymentMethod | null,
): OthersRow | null {
  const live = unlisted.filter((one) => countsUnlisted(state, one, active)).map(({ seen }) => seen)
  if (live.length === 0) return null
  return {
    count: live.length,
    seenBase: sum(live),
    confirmedBase: sum(live.filter((seen) => seen.state === 'confirmed')),
    digest: digestOf(live),
  }
}

/** True for a payment without a row that counts in the sum of all others. */
export function countsInOthers(state: InvoiceState, seen: PaymentObservation): boolean {
  const paymentMethod = methodAt(state.paymentMethods, holdingMethod(state.paymentMethods, seen))
  return countsUnlisted(state, { seen, paymentMethod }, activePaymentMethod(state))
}

/** True for a payment that enters the sums without a separate row. */
function countsUnlisted(
  state: Pick<InvoiceState, 'expiresAt' | 'status'>,
  { seen, paymentMethod }: Candidate,
  active: PaymentMethod | null,
): boolean {
  if (paymentMethod === null || paymentMethod !== active || isDust(paymentMethod, seen)) return false
  return isLive(seen) && !isLate(state, paymentMethod, seen) && quoteHolding(paymentMethod, seen.firstSeenAt) !== null
}

/** 64-bit FNV-1a over key, version and state of each payment in key order, hexadecimal. */
export function digestOf(seen: readonly PaymentObservation[]): string {
  const text = seen
    .map((one) => `${one.payment}|${one.version}|${one.state}`)
    .sort()
    .join('\n')
  let hash = FNV_OFFSET
  for (const byte of new TextEncoder().encode(text)) hash = ((hash ^ BigInt(byte)) * FNV_PRIME) & FNV_MASK
  return hash.toString(16).padStart(16, '0')
}
