import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FIAT_CODES, INVOICE_STATUSES } from '#shared/domain/enumerations.ts'
import { RUNS } from '#test/support/property-runs.ts'
import {
  bucketDuration,
  createdFigures,
  durationBucket,
  type FiguredInvoice,
  figuresOf,
  medianDuration,
  mergeFigures,
  moneySums,
} from '../books/invoice-books.ts'

const YEAR_MS = 31_536_000_000
const invoice = fc
  .record<Omit<FiguredInvoice, 'reported'>>({
    status: fc.constantFrom(...INVOICE_STATUSES),
    coinChosen: fc.boolean(),
    tookMs: fc.option(fc.integer({ min: 0, max: YEAR_MS })),
    currency: fc.constantFrom(...FIAT_CODES),
    minor: fc.bigInt({ min: 1n, max: 10n ** 20n }).map(String),
    symbol: fc.constantFrom('USDT', 'BTC', null),
  })
  .chain((plain) =>
    fc
      .option(fc.record({ currency: fc.constantFrom(...FIAT_CODES), minor: fc.bigInt({ min: 0n, max: 10n ** 20n }) }))
      .map((reported): FiguredInvoice => ({ ...plain, ...(reported !== null && { reported }) })),
  )
const invoices = fc.array(invoice, { maxLength: 30 })

describe('figures of invoices', () => {
  // Guards sums of money: each invoice is in one sum, and sums are exact at any size.
  it('count each invoice once, and add up', { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(invoices, invoices, (created, paid) => {
        const figures = figuresOf(created, paid)
        const counts = createdFigures(figures)
        expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(created.length)
        for (const { status, coinChosen, count } of counts) {
          const same = created.filter((one) => one.status === status && one.coinChosen === coinChosen)
          expect(count).toBe(same.length)
        }
        const sums = moneySums(figures)
        expect(sums.reduce((sum, { count }) => sum + count, 0)).toBe(paid.length)
        for (const { currency, symbol, minor, count, reported } of sums) {
          const same = paid.filter((one) => one.currency === currency && one.symbol === symbol)
          expect(count).toBe(same.length)
          expect(minor).toBe(same.reduce((sum, one) => sum + BigInt(one.minor), 0n))
          const totals = FIAT_CODES.map((code) => {
            const converted = same.flatMap((one) => (one.reported?.currency === code ? [one.reported.minor] : []))
            return { minor: converted.reduce((sum, one) => sum + one, 0n), count: converted.length }
          })
          expect(FIAT_CODES.map((code) => reported[code] ?? { minor: 0n, count: 0 })).toEqual(totals)
        }
      }),
      RUNS,
    )
  })

  it('are the same whichever way their parts are put together', () => {
    fc.assert(
      fc.property(invoices, invoices, invoices, (one, two, three) => {
        const whole = JSON.stringify(figuresOf([...one, ...two, ...three], [...three, ...one]))
        const parts = [figuresOf(one, three), figuresOf(two, []), figuresOf(three, one)]
        expect(JSON.stringify(mergeFigures(parts))).toBe(whole)
        expect(JSON.stringify(mergeFigures([...parts].reverse()))).toBe(whole)
      }),
      { numRuns: RUNS.numRuns / 4 },
    )
  })
})

describe('durations in buckets', () => {
  it('keep their order and differ from their bucket by at most 0.8 %', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: YEAR_MS }), fc.integer({ min: 0, max: YEAR_MS }), (one, other) => {
        const [shorter, longer] = [Math.min(one, other), Math.max(one, other)]
        expect(durationBucket(shorter)).toBeLessThanOrEqual(durationBucket(longer))
        expect(Math.abs(bucketDuration(durationBucket(one)) - one)).toBeLessThanOrEqual(one * 0.008)
      }),
      { numRuns: 2 * RUNS.numRuns },
    )
    expect(durationBucket(-1)).toBe(0)
  })

  it('have the median of what is in them', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: YEAR_MS }), { minLength: 1, maxLength: 40 }), (times) => {
        const paid = times.map((tookMs): FiguredInvoice => {
          return { status: 'paid', coinChosen: true, tookMs, currency: 'USD', minor: '1', symbol: 'BTC' }
        })
        const exact = [...times].sort((one, other) => one - other)[Math.ceil(times.length / 2) - 1] ?? 0
        const median = medianDuration(figuresOf([], paid)) ?? Number.NaN
        expect(Math.abs(median - exact)).toBeLessThanOrEqual(exact * 0.008)
      }),
      RUNS,
    )
    expect(medianDuration({ times: {} })).toBeNull()
  })
})
