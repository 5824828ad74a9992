import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RUNS } from '#test/support/property-runs.ts'
import { restBase } from '../invoice/decide.ts'
import type { InvoiceEvent, PaymentObservation } from '../invoice/invoice-event.ts'
import { activePaymentMethod, type InvoiceState, type PaymentMethod, type Quote } from '../invoice/model.ts'
import { openInvoice } from '../invoice/open-invoice.ts'
import { payableBase } from '../invoice/quote-window.ts'
import { settlement, unpaidOf } from '../invoice/totals.ts'
import { transition } from '../invoice/transition.ts'
import { holds } from '../invoice/transition-arbitraries.fixture.ts'
import { aPayment, aPaymentMethod, aQuote, MINUTE, T0 } from '../invoice/transition-story.fixture.ts'
import { halfUp } from '../money/money.ts'
import { isRefundUncovered, type RefundClaim, refundableAssets, refundableBase, sum } from '../payment/refundable.ts'
import { booksOf, type MoneyPart, partsOfMovement, partsOfPaid } from './invoice-books.ts'
import { type BookedPayment, type BookedRefund, type Movement, movementsOf } from './movements.ts'

const KINDS = ['pay', 'pay', 'pay', 'other', 'dust', 'confirm', 'confirm', 'vanish', 'return'] as const
const ASSETS = ['usdt_ethereum', 'usdc_ethereum'] as const
const DECISIONS = [
  'renew',
  'deadline',
  'accept',
  'acceptAll',
  'count',
  'refund',
  'prepare',
  'send',
  'withdraw',
  'cancel',
] as const
const step = fc.record({
  kind: fc.constantFrom(...KINDS, ...DECISIONS),
  index: fc.nat(4),
  part: fc.constantFrom(1n, 2n, 3n, 7n),
  wait: fc.constantFrom(1, MINUTE, 15 * MINUTE, 50 * MINUTE, 3 * 24 * 60 * MINUTE),
})
/** The price, and the price again. */
const TWICE: readonly Step[] = [0, 1].flatMap((index) =>
  (['pay', 'confirm'] as const).map((kind) => ({ kind, index, part: 1n, wait: MINUTE })),
)
/** Money that comes long after the invoice has ended. */
const LATE_PART: readonly Step[] = (['deadline', 'pay', 'confirm', 'acceptAll'] as const).map((kind) => {
  return { kind, index: 0, part: 2n, wait: 3 * 24 * 60 * MINUTE }
})
/** Steps of a kind, an index, a part, and minutes to wait. */
const script = (...steps: readonly (readonly [Step['kind'], number, Step['part'], number])[]): readonly Step[] =>
  steps.map(([kind, index, part, minutes]) => ({ kind, index, part, wait: minutes * MINUTE }))
/** A deposit, and the rest when its quote has long ended: it counts because of the deposit, and only while that is there. */
const DEPOSIT = script(
  ['pay', 0, 7n, 1],
  ['confirm', 0, 1n, 1],
  ['pay', 0, 2n, 100],
  ['confirm', 1, 1n, 1],
  ['vanish', 0, 1n, 1],
)
/** A part that goes back in part, and the rest at another price. */
const RENEWED = script(
  ['pay', 0, 2n, 1],
  ['confirm', 0, 1n, 1],
  ['refund', 0, 2n, 1],
  ['renew', 0, 1n, 25],
  ['pay', 0, 1n, 1],
  ['confirm', 1, 1n, 1],
)
/** The price twice, and one of both goes back; then the payment that counted leaves the chain, or the other one does. */
const REVERSED = script(
  ['pay', 0, 1n, 1],
  ['confirm', 0, 1n, 1],
  ['deadline', 0, 1n, 4_000],
  ['pay', 0, 1n, 1],
  ['confirm', 1, 1n, 1],
  ['refund', 0, 1n, 1],
)
/** Two parts that came too late, of which one goes back before a person accepts both. */
const ACCEPTED_AFTER = script(
  ['deadline', 0, 1n, 4_000],
  ['pay', 0, 2n, 1],
  ['confirm', 0, 1n, 1],
  ['pay', 0, 1n, 1],
  ['confirm', 1, 1n, 1],
  ['refund', 0, 1n, 1],
  ['acceptAll', 0, 1n, 1],
)
/** A refund that is sent when its money has left the chain, to which it returns. */
const SENT_WITHOUT = script(
  ['pay', 0, 1n, 1],
  ['confirm', 0, 1n, 1],
  ['prepare', 0, 1n, 1],
  ['vanish', 0, 1n, 1],
  ['send', 0, 1n, 1],
  ['return', 0, 1n, 1],
  ['confirm', 0, 1n, 1],
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const BEGINNINGS = [[], LATE_PART, TWICE, DEPOSIT, RENEWED, REVERSED, ACCEPTED_AFTER, SENT_WITHOUT]
const world = fc.record({
  price: fc.constantFrom(1n, 99n, 10_000n, 6_079_800n, 70_417_497n),
  due: fc.constantFrom(7n * 10n ** 5n, 1_000_000n, 333_333n * 10n ** 12n),
  // Many begin with a part that a person accepts, or with the price twice: without them, few histories have a correction or excess.
  steps: fc
    .tuple(fc.constantFrom(...BEGINNINGS), fc.array(step, { minLength: 2, maxLength: 14 }))
    .map(([first, others]): readonly Step[] => [...first, ...others]),
})

/** An invoice that lives: everything that is stored of it, as the stores would have it. */
function openWorld(price: bigint, due: bigint) {
  const policy = { ...aPaymentMethod().policy, toleranceBase: due / 1_000n, dustBase: due / 5_000n }
  const method = aPaymentMethod({ policy, quotes: [aQuote({ amountBase: due })] })
  const input = { mode: 'test', createdAt: T0, expiresAt: T0 + 60 * MINUTE, endsWithQuote: false } as const
  let state: InvoiceState = openInvoice({ ...input, paymentMethod: method }).state
  let now = T0
  const seen = new Map<string, PaymentObservation>()
  const bookedAt = new Map<string, number[]>()
  let refunds: readonly (BookedRefund & RefundClaim)[] = []
  const apply = (event: InvoiceEvent): void => {
    const result = transition(state, { observations: [...seen.values()], event, at: now, knownUntil: now, refunds })
    if (result.outcome !== 'refused') state = result.state
  }
  const put = (key: string, change: Partial<PaymentObservation>): void => {
    const before = seen.get(key)
    const after = { ...(before ?? aPayment({ payment: key, firstSeenAt: now, rateSeen: '1.00' })), ...change }
    const isTurn = (before?.state === 'confirmed') !== (after.state === 'confirmed')
    seen.set(key, { ...after, version: (before?.version ?? 0) + 1 })
    if (isTurn) bookedAt.set(key, [...(bookedAt.get(key) ?? []), now])
    apply({ type: 'payments_changed' })
  }
  const play = ({ kind, index, part, wait }: Step): void => {
    now += wait
    const one = [...seen.values()][index % Math.max(1, seen.size)]
    const key = `p${seen.size}`
    if (kind === 'pay') put(key, { amountBase: due / part })
    if (kind === 'other') put(key, { amountBase: due / part, asset: 'usdc_ethereum' })
    if (kind === 'dust') put(key, { amountBase: due / 9_000n })
    if (kind === 'renew') renew()
    if (kind === 'deadline') apply({ type: 'deadline_reached' })
    if (kind === 'cancel') apply({ type: 'cancel_requested' })
    if (kind === 'acceptAll') apply({ type: 'funds_accepted', payments: [] })
    if (one === undefined) return
    const { payment, state: was } = one
    if (kind === 'confirm' && was === 'detected') put(payment, { state: 'confirmed' })
    if (kind === 'vanish' && was !== 'orphaned') put(payment, { state: 'orphaned' })
    if (kind === 'return' && was === 'orphaned') put(payment, { state: 'detected' })
    if (kind === 'accept') apply({ type: 'funds_accepted', payments: [{ payment, valueBase: due / part }] })
    if (kind === 'count') apply({ type: 'payment_counted', payment })
    if (kind === 'refund' && was === 'confirmed') prepare(one.asset, one.amountBase / part, now)
    if (kind === 'prepare' && was === 'confirmed') prepare(one.asset, one.amountBase / part, null)
    const open = refunds.filter(({ status }) => status === 'requested')
    const chosen = open[index % Math.max(1, open.length)]
    const end = (fields: Pick<RefundClaim, 'status'> & { sentAt: number | null }) => {
      refunds = refunds.map((known) => (known === chosen ? { ...known, ...fields } : known))
      apply({ type: 'payments_changed' })
    }
    if (kind === 'send') end({ status: 'sent', sentAt: now })
    if (kind === 'withdraw') end({ status: 'withdrawn', sentAt: null })
  }
  /** Never more than is left of the coin, as the product has it. */
  const prepare = (asset: PaymentObservation['asset'], most: bigint, sentAt: number | null): void => {
    if (asset === null) return
    const left = refundableBase(asset, [...seen.values()], refunds)
    const amountBase = most < left ? most : left
    const status = sentAt === null ? 'requested' : 'sent'
    if (amountBase <= 0n) return
    refunds = [
      ...refunds,
      { id: `r${refunds.length}`, asset, amountBase, sentAt, market: null, status, createdAt: now },
    ]
    apply({ type: 'payments_changed' })
  }
  /** Sends what was prepared, and back all that is left of each coin. Whether there is as much as went back. */
  const returnAll = (): boolean => {
    now += MINUTE
    refunds = refunds.map((one) => (one.status === 'requested' ? { ...one, status: 'sent', sentAt: now } : one))
    apply({ type: 'payments_changed' })
    for (const { asset, amountBase } of refundableAssets([...seen.values()], refunds)) prepare(asset, amountBase, now)
    return !isRefundUncovered([...seen.values()], refunds)
  }
  const renew = (): void => {
    const active = activePaymentMethod(state)
    const whole = due + BigInt(state.paymentMethods[0]?.quotes.length ?? 1) * (due / 37n)
    const rest = restBase(state, whole)
    if (active === null) return
    const shared = aQuote({ quotedAt: now, expiresAt: now + 20 * MINUTE })
    const quote: Quote =
      rest === null
        ? { ...shared, amountBase: whole }
        : { ...shared, amountBase: payableBase(active, rest), rest: { wholeBase: whole, restBase: rest } }
    const { asset, matchKey, claim } = active
    apply({ type: 'quote_renewed', asset, matchKey, claim, quote, quoteCount: active.quotes.length })
  }
  const invoice = () => ({ terms: { id: 'i', fiat: { minor: price, currency: 'USD' as const } }, state })
  const payments = (): readonly BookedPayment[] =>
    [...seen.values()].map((one) => ({
      ...{ id: one.payment, key: one.payment, asset: one.asset, network: one.network, matchKey: one.matchKey },
      ...{ amountBase: one.amountBase, kind: 'onchain', state: one.state, firstSeenAt: one.firstSeenAt },
      ...{ bookedAt: bookedAt.get(one.payment) ?? [], counted: true },
    }))
  /** Money of each coin that a person has to decide about: what pays nothing, less what went back. */
  const undecided = () => {
    const isOver = state.status === 'expired' || state.status === 'cancelled'
    const rows = state.ledger.filter(
      (row) => row.state === 'confirmed' && row.uncountedReason !== 'dust' && row.countedByHand !== true,
    )
    const beside = rows.filter((row) => isOver || !row.counted || !row.eligible)
    return ASSETS.map((asset) => {
      const own = beside.filter(({ payment }) => seen.get(payment)?.asset === asset)
      const back = refunds.filter((one) => one.status === 'sent' && one.asset === asset)
      const isOpen = state.exceptions.some(({ exception, payment }) =>
        payment === null ? exception === 'partial' : own.some((row) => row.payment === payment),
      )
      return { leftBase: sum(own) - sum(back), isOpen }
    })
  }
  return { play, returnAll, undecided, invoice, movements: () => movementsOf(invoice(), payments(), refunds) }
}

/** The parts of every figure, each with the time in whose figures it is: of the invoice once it was paid, and of each movement. */
function datedParts({ terms, state }: ReturnType<ReturnType<typeof openWorld>['invoice']>, all: readonly Movement[]) {
  const { paidAt } = state
  const dated = (at: number, parts: readonly MoneyPart[]) => parts.map((part) => ({ at, ...part }))
  return [
    ...(paidAt === null ? [] : dated(paidAt, partsOfPaid(terms, paidAt, all, null))),
    ...all.flatMap((movement) => dated(movement.at, partsOfMovement({ terms, paidAt }, movement))),
  ]
}

const text = (movement: Movement): string =>
  JSON.stringify(movement, (name, value: unknown) => {
    if (name === 'payment' || name === 'refund') return null
    return typeof value === 'bigint' ? String(value) : value
  })

// Guarantee: a closed month never changes: whatever happens to an invoice later, what was booked before stays as it is.
it('what happens later never changes a movement, and each invoice ties out to the minor unit', {
  timeout: 600_000,
}, () => {
  let [corrections, reversals, refunds, excess] = [0, 0, 0, 0]
  let [laterParts, regrouped, decided] = [0, 0, 0]
  fc.assert(
    fc.property(world, ({ price, due, steps }) => {
      const { play, returnAll, undecided, invoice, movements } = openWorld(price, due)
      let before: readonly string[] = []
      let partsBefore: readonly string[] = []
      for (const one of steps) {
        play(one)
        holds(
          undecided().every(({ leftBase, isOpen }) => leftBase <= 0n || isOpen),
          'an exception is open while there is money left to decide about',
        )
        const now = movements()
        const texts = now.map(text)
        expect(texts.slice(0, before.length)).toEqual(before)
        before = texts
        const books = booksOf(invoice(), now)
        holds(books.price === books.received + books.short - books.excess, 'price = received + short - excess')
        // Refunds are movements of their own.
        const gross = { ...invoice().state, claimedBase: 0n }
        holds(books.received === receivedOf(gross, price), 'the books have what settles the invoice')
        holds(books.refunded >= 0n && books.received >= 0n, 'neither sum is below zero')
        const sums = now.filter(({ refund }) => refund === null)
        const applied = sums.reduce((sum, { appliedMinor }) => sum + appliedMinor, 0n)
        holds(applied + books.short === price, 'what is applied and what is short make the price')
        holds(sameBase(countedBase(invoice().state), sums), 'what counts of each coin is applied or above the price')
        if (books.excess > 0n) excess += 1
        const parts = datedParts(invoice(), now)
        const partTexts = parts.map((part) =>
          JSON.stringify(part, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
        )
        // An invoice that is paid now brings its own parts, at this moment.
        const { paidAt } = invoice().state
        if (partsBefore.length > 0)
          holds(
            partsBefore.every((one) => partTexts.includes(one)),
            'a figure of before changed',
          )
        partsBefore = partTexts
        if (paidAt === null) continue
        const sumOf = (figure: string) =>
          parts.reduce((sum, part) => sum + (part.figure === figure ? part.minor : 0n), 0n)
        holds(sumOf('short') === books.short && sumOf('excess') === books.excess, 'the figures add up to the books')
        laterParts += parts.filter(({ figure, at }) => at > paidAt && ['short', 'excess'].includes(figure)).length
      }
      const isCovered = returnAll()
      const { net } = booksOf(invoice(), movements())
      if (invoice().state.ledger.some(({ uncountedReason }) => uncountedReason !== null)) decided += 1
      // Money that waits for confirmations cannot be refunded yet.
      const isAll = invoice().state.ledger.every((row) => row.state !== 'detected')
      const isDecided = undecided().every(({ isOpen }) => !isOpen)
      holds(!isCovered || !isAll || isDecided, 'no exception is open about confirmed money that went back')
      holds(isCovered ? net === 0n : net <= 0n, 'nothing is left when all has gone back')
      regrouped += movements().filter(({ kind, refund }) => kind === 'correction' && refund !== null).length
      corrections += movements().filter(({ kind }) => kind === 'correction').length
      reversals += movements().filter(({ kind }) => kind === 'reversal').length
      refunds += movements().filter(({ kind, counted }) => kind === 'refund' && counted).length
    }),
    RUNS,
  )
  // The stories reach what they are about.
  expect({ corrections, reversals, refunds, excess, laterParts, regrouped, decided }).toEqual({
    ...{ corrections: expect.toSatisfy(isMany), reversals: expect.toSatisfy(isMany) },
    ...{ refunds: expect.toSatisfy(isMany), excess: expect.toSatisfy(isMany), laterParts: expect.toSatisfy(isMany) },
    ...{ regrouped: expect.toSatisfy(isMany), decided: expect.toSatisfy(isMany) },
  })
})

/** Base units of each payment that counts now. */
function countedBase({ ledger, status }: InvoiceState): ReadonlyMap<string, bigint> {
  const counts = ledger.filter((row) => row.state === 'confirmed' && row.counted && row.eligible)
  return new Map(status === 'cancelled' ? [] : counts.map((row) => [row.payment, row.amountBase]))
}

/** Whether the rows of each payment add up to what of it counts. */
function sameBase(counted: ReadonlyMap<string, bigint>, rows: readonly Movement[]): boolean {
  const keys = new Set(rows.flatMap(({ payment }) => payment?.key ?? []))
  return [...keys].every((key) => {
    const own = rows.filter(({ payment }) => payment?.key === key)
    const base = own.reduce((sum, { appliedBase, excessBase }) => sum + appliedBase + excessBase, 0n)
    return base === (counted.get(key) ?? 0n)
  })
}

const isMany = (count: number): boolean => count > 10

/** The value of confirmed money that counts, by the arithmetic that settles invoices. */
function receivedOf(state: InvoiceState, price: bigint): bigint {
  const active = activePaymentMethod(state)
  if (active === null || state.status === 'cancelled') return 0n
  const { parts, whole } = unpaidOf(state, active, 'settled')
  if (parts > 0n) return halfUp(price * (whole - parts), whole)
  return paidParts(state, active, price)
}

/** Above the price there is no share that is unpaid: each payment at the quote that it has. */
function paidParts(state: InvoiceState, active: PaymentMethod, price: bigint): bigint {
  const { base } = settlement(state, 'settled')
  const wholes = active.quotes.map((quote) => quote.rest?.wholeBase ?? quote.amountBase)
  const whole = wholes.reduce((product, one) => product * one, 1n)
  if (new Set(wholes).size === 1) return halfUp(price * base, wholes[0] ?? 1n)
  const rows = state.ledger.filter((row) => row.counted && row.eligible && row.state === 'confirmed')
  const parts = rows.reduce((sum, row) => {
    const latest = active.quotes.length - 1
    const held = active.quotes.findLastIndex(({ quotedAt }) => quotedAt <= row.firstSeenAt)
    const quote = row.acceptedBase === null ? Math.max(0, held) : latest
    return sum + (row.acceptedBase ?? row.amountBase) * (whole / (wholes[quote] ?? 1n))
  }, 0n)
  return halfUp(price * parts, whole)
}
