import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RUNS } from '#test/support/property-runs.ts'
import { PAYMENT_STATES } from '../enumerations.ts'
import { smallRest } from './fold.ts'
import { asideOf, type FoldPlace, foldKey, IN_FOLD, placeOf } from './fold-reading.ts'
import type { InvoiceEvent, PaymentObservation } from './invoice-event.ts'
import type { InvoiceState } from './model.ts'
import { isDust, isLive, totals } from './totals.ts'
import { transition } from './transition.ts'
import { firstSeenAt, holds, paymentMethod, rateSeen, start } from './transition-arbitraries.fixture.ts'
import { anotherPaymentMethod, aPayment, aQuote, DUE, MINUTE, renewal, T0 } from './transition-story.fixture.ts'

/** Sums of these come within dust of what is due; half of them are dust. */
const amount = fc.constantFrom(1n, 500n, 700n, 900n, 999n, DUE - 1_900n, DUE - 1_600n, DUE / 2n, DUE / 2n - 800n)
const dear = aQuote({ quotedAt: T0 + 5 * MINUTE, amountBase: DUE + 900n })
const events: readonly InvoiceEvent[] = [
  { type: 'deadline_reached' },
  { type: 'cancel_requested' },
  { type: 'payment_counted', payment: 'p0' },
  { type: 'asset_chosen', paymentMethod: anotherPaymentMethod() },
  { type: 'payment_method_resumed', asset: 'usdt_ethereum', matchKey: 'a1' },
  { ...renewal, quote: dear, claim: 'c' },
]
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ index: fc.nat(9), state: fc.constantFrom(...PAYMENT_STATES) }) },
  { weight: 1, arbitrary: fc.constantFrom(...events).map((event) => ({ event })) },
)
const place = fc.constantFrom(
  { asset: 'usdt_ethereum', network: 'ethereum', matchKey: 'a1' } as const,
  { asset: 'usdt_ethereum', network: 'ethereum', matchKey: 'a1' } as const,
  { asset: 'usdt_ethereum', network: 'ethereum', matchKey: 'a1' } as const,
  { asset: 'usdc_ethereum', network: 'ethereum', matchKey: 'b2' } as const,
  { asset: 'eth_ethereum', network: 'ethereum', matchKey: 'a1' } as const,
)
const money = fc.array(
  fc
    .record({ amountBase: amount, firstSeenAt, rateSeen, place })
    .map(({ place: where, ...rest }) => ({ ...rest, ...where })),
  { minLength: 10, maxLength: 10 },
)
const story = fc.array(fc.record({ batch: fc.array(step, { minLength: 1, maxLength: 3 }) }), {
  minLength: 2,
  maxLength: 8,
})

type Row = PaymentObservation & { readonly place?: FoldPlace }

/** What `listForFold` and `listDustFor` give, of rows as the payments collection has them; all for a decision of a person. */
function read(state: InvoiceState, rows: ReadonlyMap<string, Row>, event: InvoiceEvent, at: number): readonly Row[] {
  if (event.type === 'payment_counted') return [...rows.values()]
  const key = foldKey(state)
  const listed = new Set(state.ledger.map(({ payment }) => payment))
  const isRead = ({ payment, place: where = '' }: Row) =>
    listed.has(payment) || where === IN_FOLD || !where.startsWith(`${key}:`)
  const found = [...rows.values()].filter(isRead)
  const rest = smallRest(state, found, at)
  if (rest === null) return found
  const from = asideOf(key, rest.leastBase)
  const until = asideOf(key, rest.belowBase)
  const isCandidate = (one: Row) =>
    one.place !== undefined && one.place >= from && one.place < until && one.matchKey === rest.matchKey && isLive(one)
  const dust = [...rows.values()].filter((one) => one.asset === rest.asset && isCandidate(one))
  return [...new Map([...found, ...dust].map((one) => [one.payment, one])).values()]
}

/** What `markApplied` stores. */
function mark(rows: Map<string, Row>, seen: readonly Row[], { before, after }: Record<string, InvoiceState>) {
  if (before === undefined || after === undefined) return
  const ledger = new Map(after.ledger.map((row) => [row.payment, row]))
  for (const one of seen) {
    const where = placeOf(after, one, { row: ledger.get(one.payment), key: foldKey(before) })
    rows.set(one.payment, { ...one, place: where })
  }
}

describe('payments that are put aside', () => {
  // Guarantee: leaving them out of a fold changes no row, no sum and no announcement.
  it('give every invoice what it has when all are read', { timeout: 120_000 }, () => {
    let aside = 0
    let completed = 0
    fc.assert(
      fc.property(money, story, (given, batches) => {
        const rows = new Map<string, Row>()
        let whole = start()
        let bounded = start()
        let at = T0
        for (const { batch } of batches) {
          at += MINUTE
          let event: InvoiceEvent = { type: 'payments_changed' }
          for (const one of batch) {
            if ('event' in one) event = one.event
            else {
              const { place: before, ...known } = rows.get(`p${one.index}`) ?? { version: 0 }
              const payment = { ...given[one.index], payment: `p${one.index}`, version: known.version + 1 }
              const stored = aPayment({ ...payment, state: one.state })
              rows.set(payment.payment, before === IN_FOLD ? { ...stored, place: IN_FOLD } : stored)
            }
          }
          // A change of asset is followed by a fold, whose wake-up it sends.
          for (const next of [event, { type: 'payments_changed' } as const]) {
            const input = { event: next, at, knownUntil: at }
            const seen = read(bounded, rows, next, at)
            const one = transition(whole, { ...input, observations: [...rows.values()] })
            const other = transition(bounded, { ...input, observations: seen })
            holds(one.outcome === other.outcome, `outcome ${one.outcome} equals ${other.outcome}`)
            if (other.outcome === 'refused' || one.outcome === 'refused') continue
            aside += rows.size - seen.length
            mark(rows, seen, { before: bounded, after: other.state })
            whole = one.state
            bounded = other.state
            const text = (state: InvoiceState) =>
              JSON.stringify([state, totals(state)], (_, value) => (typeof value === 'bigint' ? `${value}` : value))
            holds(text(whole) === text(bounded), `${text(whole)} equals ${text(bounded)}`)
          }
        }
        if (bounded.ledger.some((row) => row.counted && isDust(paymentMethod, row))) completed += 1
      }),
      RUNS,
    )
    expect(aside).toBeGreaterThan(RUNS.numRuns)
    expect(completed).toBeGreaterThan(RUNS.numRuns / 100)
  })
})
