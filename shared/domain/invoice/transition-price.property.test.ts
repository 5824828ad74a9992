import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RUNS } from '#test/support/property-runs.ts'
import { displayUnit, formatDecimal, quoteAmountBase } from '../money/money.ts'

import { type OpenPrice, openPrice, restBase } from './decide.ts'
import type { InvoiceEvent, PaymentObservation } from './invoice-event.ts'
import {
  activePaymentMethod,
  currentQuote,
  type InvoiceState,
  type Ms,
  type OpenException,
  type PaymentMethod,
  type Quote,
} from './model.ts'
import { openInvoice } from './open-invoice.ts'
import { payableBase, quoteHolding } from './quote-window.ts'
import { statusBySums } from './settle.ts'
import { holdingMethod, isLive, isSettled, requestedBase, totals } from './totals.ts'
import { transition } from './transition.ts'
import { holds } from './transition-arbitraries.fixture.ts'
import { aPayment, aPaymentMethod, aQuote, MINUTE, T0 } from './transition-story.fixture.ts'

/** 1,000.00 dollars. */
const PRICE_MINOR = 100_000n
const BPS = 10_000n
/** Prices of one coin have six decimals. */
const RATE_SCALE = 6
const QUOTE_MS = 20 * MINUTE
const DRIFT_BPS = 200n

const coins = [
  { decimals: 18, displayDecimals: 6, rate: 2_140_110_000n },
  { decimals: 8, displayDecimals: 8, rate: 70_000_123_456n },
  { decimals: 6, displayDecimals: 2, rate: 1_000_100n },
  { decimals: 8, displayDecimals: 8, rate: 81_234n },
] as const

const deposit = (first: Step): Step => ({ ...first, kind: 'pay', index: 0, wait: MINUTE, lag: 0 })

/** The market moves by this much every ten minutes, in basis points of its first price. */
const path = fc.array(fc.constantFrom(-4_000, -900, -300, -150, 0, 0, 100, 250, 1_000, 8_000), {
  minLength: 1,
  maxLength: 8,
})

const sizes = ['rest', 'first', 'tiny', 'small', 'claim', 'third', 'half', 'most'] as const
const KINDS = [
  ...(['pay', 'pay', 'pay', 'pay', 'pay', 'renew', 'renew', 'confirm', 'confirm'] as const),
  ...(['network', 'vanish', 'return', 'deadline'] as const),
]
const step = fc.record({
  kind: fc.constantFrom(...KINDS),
  size: fc.constantFrom(...sizes, 'rest', 'rest'),
  index: fc.nat(5),
  wait: fc.constantFrom(1, 5 * MINUTE, 14 * MINUTE, 25 * MINUTE, 70 * MINUTE, 20 * 24 * 60 * MINUTE),
  /** How long after it was first seen a payment is reported. */
  lag: fc.constantFrom(0, 0, 0, 30 * MINUTE),
  isRateKnown: fc.constantFrom(true, true, true, false),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const world = fc.record({
  coin: fc.constantFrom(...coins),
  path,
  toleranceBps: fc.constantFrom(0n, 0n, 50n),
  lifeMs: fc.constantFrom(0, 60 * MINUTE, 30 * 24 * 60 * MINUTE),
  /** Many begin with a deposit in time and end with the rest of it, confirmed: without them, few would be paid by what came outside of a quote. */
  steps: fc
    .tuple(fc.boolean(), step, fc.array(step, { minLength: 1, maxLength: 7 }), step)
    .map(([isDeposit, first, others, last]): readonly Step[] =>
      isDeposit ? [deposit(first), ...others, { ...last, kind: 'pay', size: 'rest', index: 0, lag: 0 }] : others,
    ),
})
type World = typeof world extends fc.Arbitrary<infer T> ? T : never

/** Fiat per coin at a time, as an integer with six decimals. */
function marketAt({ coin, path: moves }: World, at: Ms): bigint {
  const passed = Math.max(0, Math.floor((at - T0) / (10 * MINUTE)))
  const moved = moves.slice(0, passed).reduce((sum: number, one) => sum + one, 0)
  const rate = (coin.rate * BigInt(Math.max(500, 10_000 + moved))) / BPS
  return rate > 0n ? rate : 1n
}

const rateText = (rate: bigint): string => formatDecimal({ digits: rate, scale: RATE_SCALE })

function quoteOf(given: World, at: Ms, expiresAt: Ms, open: OpenPrice | null = null): Quote {
  const fiatPerAsset = open?.fiatPerAsset ?? rateText(marketAt(given, at))
  const amountBase = quoteAmountBase({ fiatMinor: PRICE_MINOR, currency: 'USD', fiatPerAsset, ...given.coin })
  return aQuote({ amountBase, fiatPerAsset, quotedAt: open?.quotedAt ?? at, expiresAt: open?.expiresAt ?? expiresAt })
}

/** One address for two networks of the coin. */
const NETWORKS = [
  { asset: 'usdt_ethereum', network: 'ethereum' },
  { asset: 'usdt_bsc', network: 'bsc' },
] as const

function methodOf(given: World, network: number, quote: Quote, from: Ms): PaymentMethod {
  const plain = aPaymentMethod({ quotes: [quote], from, decimals: given.coin.decimals })
  const toleranceBase = (quote.amountBase * given.toleranceBps) / BPS
  return {
    ...plain,
    ...(NETWORKS[network] ?? NETWORKS[0]),
    policy: { ...plain.policy, dustBase: 1n, toleranceBase, unitBase: displayUnit(given.coin) },
  }
}

/** What happens to one invoice; every guarantee is checked at every step. */
function play(given: World): { readonly state: InvoiceState; readonly usedDrift: boolean } {
  const end = T0 + (given.lifeMs === 0 ? QUOTE_MS : given.lifeMs)
  const paymentMethod = methodOf(given, 0, quoteOf(given, T0, Math.min(T0 + QUOTE_MS, end)), T0)
  const input = {
    mode: 'test',
    createdAt: T0,
    expiresAt: end,
    endsWithQuote: given.lifeMs === 0,
    paymentMethod,
  } as const
  let { state } = openInvoice(input)
  let at = T0
  let usedDrift = false
  const known = new Map<string, PaymentObservation>()
  for (const one of given.steps) {
    at += one.wait
    const event = eventOf(given, state, known, one, at)
    const result = transition(state, { observations: [...known.values()], event, at })
    if (result.outcome !== 'changed') continue
    const before = state
    state = result.state
    if (event.type === 'quote_renewed') holds(state.status === before.status, 'a new price settles nothing')
    if (!isSettled(before) && isSettled(state)) usedDrift = checkPaid(given, state) || usedDrift
    if (one.kind === 'pay' && one.size === 'rest' && one.lag === 0) checkRequested(before, state, at)
    checkRest(given, state)
    holds(statusBySums(state, Number.NEGATIVE_INFINITY) === state.status, 'the status follows from the ledger')
  }
  return { state, usedDrift }
}

function eventOf(
  given: World,
  state: InvoiceState,
  known: Map<string, PaymentObservation>,
  one: Step,
  at: Ms,
): InvoiceEvent {
  const paymentMethod = activePaymentMethod(state)
  if (one.kind === 'deadline' || paymentMethod === null) return { type: 'deadline_reached' }
  const expiresAt = state.endsWithQuote ? at + QUOTE_MS : Math.min(at + QUOTE_MS, state.expiresAt)
  if (one.kind === 'renew') return renewalOf(state, quoteOf(given, at, expiresAt), paymentMethod)
  if (one.kind === 'network') {
    const quote = quoteOf(given, at, expiresAt, openPrice(state.paymentMethods, paymentMethod.symbol, at))
    return { type: 'asset_chosen', paymentMethod: methodOf(given, one.index % 2, quote, at) }
  }
  if (one.kind === 'pay') known.set(`p${known.size}`, paymentOf(given, state, paymentMethod, known.size, one, at))
  else change(known, one)
  return { type: 'payments_changed' }
}

function renewalOf(state: InvoiceState, whole: Quote, paymentMethod: PaymentMethod): InvoiceEvent {
  const { asset, matchKey, claim } = paymentMethod
  const of = { asset, matchKey, claim }
  const rest = restBase(state, whole.amountBase)
  if (rest === null) return { type: 'quote_renewed', ...of, quote: whole }
  const amountBase = payableBase(paymentMethod, rest)
  return {
    type: 'quote_renewed',
    ...of,
    quote: { ...whole, amountBase, rest: { wholeBase: whole.amountBase, restBase: rest } },
  }
}

function paymentOf(
  given: World,
  state: InvoiceState,
  paymentMethod: PaymentMethod,
  number: number,
  one: Step,
  at: Ms,
): PaymentObservation {
  const { asset, network, matchKey } = paymentMethod
  const firstSeenAt = at - one.lag
  const first = paymentMethod.quotes[0]?.amountBase ?? 1n
  const shares = { first: BPS, tiny: 12n, small: 499n, claim: 500n, third: 3_333n, half: 5_000n, most: 9_950n } as const
  const leftBase = one.size === 'rest' ? requestedBase(state, at) : (first * shares[one.size]) / BPS
  const isOff = firstSeenAt > state.expiresAt || quoteHolding(paymentMethod, firstSeenAt) === null
  return aPayment({
    ...{ payment: `p${number}`, asset, network, matchKey, firstSeenAt },
    amountBase: leftBase > 0n ? leftBase : 1n,
    state: one.index % 2 === 0 ? 'confirmed' : 'detected',
    rateSeen: isOff && one.isRateKnown ? rateText(marketAt(given, firstSeenAt)) : null,
  })
}

function change(known: Map<string, PaymentObservation>, one: Step): void {
  const seen = known.get(`p${one.index % Math.max(1, known.size)}`)
  if (seen === undefined) return
  const state = one.kind === 'vanish' ? 'orphaned' : one.kind === 'return' ? 'detected' : 'confirmed'
  known.set(seen.payment, { ...seen, state, version: seen.version + 1 })
}

/**
 * The money that paid the invoice was worth its price, from the market and the quotes alone: money within a quote of the coin by the newest one,
 * all other money by the market when it was seen, with the drift that the merchant allows. True when the drift was used.
 */
function checkPaid(given: World, { ledger, paymentMethods }: InvoiceState): boolean {
  const unit = 10n ** BigInt(given.coin.decimals + RATE_SCALE)
  const quotes = paymentMethods.flatMap((paymentMethod) => paymentMethod.quotes)
  let worth = 0n
  let usedDrift = false
  for (const row of ledger.filter((other) => other.counted && other.eligible && isLive(other))) {
    const open = quotes.filter(({ quotedAt, expiresAt }) => quotedAt <= row.firstSeenAt && row.firstSeenAt <= expiresAt)
    const market = marketAt(given, row.firstSeenAt)
    const newest = open.sort((left, right) => right.quotedAt - left.quotedAt)[0]
    const promised = BigInt(Math.round(Number(newest?.fiatPerAsset ?? 0) * 1e6)) * BPS
    const drifted = (market * BPS * BPS) / (BPS - DRIFT_BPS)
    usedDrift ||= open.length === 0
    // The coin has one open price: the newest. Anything else credits the market with the bound, at most.
    worth += row.amountBase * (promised > drifted ? promised : drifted)
  }
  const price = PRICE_MINOR * unit * (BPS - given.toleranceBps)
  // A part of a coin is rounded down to one unit at most for each row.
  holds(worth * 100n + BigInt(ledger.length) * BPS >= price, 'the money was worth the price')
  return usedDrift
}

/** What the page asks for is what settles: neither less nor more. */
function checkRequested(before: InvoiceState, after: InvoiceState, at: Ms): void {
  const isOpen = before.status === 'pending' || before.status === 'partial'
  const quote = currentQuote(before)
  if (!isOpen || quote === null || at > quote.expiresAt || at > before.expiresAt) return
  holds(
    after.status === 'confirming' || after.status === 'paid',
    `the rest that was asked for settles (${after.status})`,
  )
  const isConfirmed = after.ledger.every((row) => row.state === 'confirmed')
  holds(!isConfirmed || !after.underpaidAccepted, 'it is no underpayment')
  const known = new Set(before.ledger.map(({ payment }) => payment))
  const isNew = ({ payment }: OpenException) => payment === null || !known.has(payment)
  holds(!after.exceptions.some(isNew), 'nobody has to decide anything about it')
}

/** The rest is the unpaid part of the price at the latest rate, rounded against the payer by less than the display precision. */
function checkRest(given: World, state: InvoiceState): void {
  if (state.status !== 'partial') return
  const paymentMethod = activePaymentMethod(state)
  const quote = currentQuote(state)
  if (paymentMethod === null || quote === null) return
  const whole = quote.rest?.wholeBase ?? quote.amountBase
  const display = displayUnit(given.coin)
  const { dueBase, seenBase } = totals(state)
  const exact = restBase(state, whole) ?? 0n
  const leftBase = requestedBase(state, state.updatedAt)
  holds(dueBase - seenBase >= exact, 'the amount due covers what is unpaid')
  holds(leftBase >= exact, 'the rest covers what is unpaid')
  holds(leftBase < exact + display, 'the rest is rounded up by less than the display precision')
  holds(leftBase % display === 0n, 'a payer can type the rest')
}

// Guarantee: a deposit buys the time of its quote and the drift that the merchant allows, and nothing else.
it('whatever was paid before, and however the market moves, the money that pays an invoice was worth its price', {
  timeout: 240_000,
}, () => {
  const reached = new Map<string, number>()
  let drifted = 0
  fc.assert(
    fc.property(world, (given) => {
      const { state, usedDrift } = play(given)
      reached.set(state.status, (reached.get(state.status) ?? 0) + 1)
      if (usedDrift) drifted += 1
      for (const row of state.ledger.filter(({ counted }) => counted))
        holds(
          holdingMethod(state.paymentMethods, { ...NETWORKS[0], matchKey: 'a1', ...row }) !== null,
          'it has a payment method',
        )
    }),
    RUNS,
  )
  // Paid invoices, and those whose last money came outside of every quote, are not rare: the guarantee is not empty.
  expect((reached.get('paid') ?? 0) + (reached.get('overpaid') ?? 0)).toBeGreaterThan(RUNS.numRuns / 10)
  expect(reached.get('partial') ?? 0).toBeGreaterThan(RUNS.numRuns / 20)
  expect(drifted).toBeGreaterThan(RUNS.numRuns / 200)
})
