import { type DayRange, dayBefore, dayStarts, daysOf } from '#shared/contracts/zone-days.ts'
import type { OverviewReads } from '#shared/db/reports/overview-reads.ts'
import {
  type CreatedFigure,
  createdFigures,
  type InvoiceFigures,
  medianDuration,
  mergeFigures,
  moneySums,
} from '#shared/domain/books/invoice-books.ts'
import type { FiatCode, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import { createSingleFlight } from '#shared/usecases/requests/single-flight.ts'

/** Whose figures, and of which days; days are those of `zone`, an IANA name. */
export interface OverviewQuestion extends DayRange {
  readonly workspaceId: string
  readonly mode: Mode
  readonly zone: string
}

/** Money by day: what moved on it, and the prices of invoices that were paid on it. */
export type Volume = Awaited<ReturnType<typeof readVolume>>

/** Figures are computed at most this often for one query, however many viewers there are. */
const KEEP_MS = 5_000
const KEPT_MAX = 500

/** Computes and caches the figures of one process from the given reads. */
export function createOverview(deps: { readonly reads: OverviewReads; readonly clock: Clock }) {
  const volume = keeping(deps.clock, (question) => readVolume(deps, question))
  const funnel = keeping(deps.clock, (question) => readFunnel(deps, question))
  return { volume, funnel }
}

type Deps = Parameters<typeof createOverview>[0]

function keeping<T>(clock: Clock, read: (question: OverviewQuestion) => Promise<T>) {
  const kept = new Map<string, { readonly at: Ms; readonly value: T }>()
  const flight = createSingleFlight<T>()
  return async (question: OverviewQuestion): Promise<T> => {
    const { workspaceId, mode, zone, first, last } = question
    const key = JSON.stringify([workspaceId, mode, zone, first, last])
    const known = kept.get(key)
    if (known !== undefined && clock.now() - known.at < KEEP_MS) return known.value
    const value = await flight(key, () => read(question))
    if (kept.size >= KEPT_MAX) kept.clear()
    kept.set(key, { at: clock.now(), value })
    return value
  }
}

const HOUR_MS = 3_600_000

/** `days` are dates such as `2026-11-19`. */
async function readDays({ reads }: Deps, { workspaceId, mode, zone, first, last }: OverviewQuestion) {
  const count = daysOf({ first, last }).length
  const days = daysOf({ first: dayBefore(first, count), last })
  const starts = dayStarts(days, zone)
  const [until = 0] = dayStarts([dayBefore(last, -1)], zone)
  const span = { workspaceId, mode, since: starts[0] ?? 0, until }
  // Where midnight is on a full hour, no hour lies in two days.
  const step = starts.every((start) => start % HOUR_MS === 0) ? 'hour' : 'quarter'
  // What is counted between the two reads only makes the figures newer than they say.
  const asOf = await reads.asOf()
  const slots: InvoiceFigures[][] = days.map(() => [])
  let day = 0
  for (const { at, figures } of await reads.invoices(span, step)) {
    while ((starts[day + 1] ?? Number.POSITIVE_INFINITY) <= at) day += 1
    slots[day]?.push(figures)
  }
  const byDay = slots.map(mergeFigures)
  return {
    /** The days asked for, oldest first. */
    days: days.slice(count),
    /** The figures of each of them. */
    byDay: byDay.slice(count),
    /** Of as many days before. */
    before: mergeFigures(byDay.slice(0, count)),
    /** When changes were last counted; null while the figures were never complete. */
    asOf,
  }
}

async function readVolume(deps: Deps, question: OverviewQuestion) {
  const { days, byDay, before, asOf } = await readDays(deps, question)
  const rows = byDay.flatMap((figures, index) => moneySums(figures).map((row) => ({ day: days[index] ?? '', ...row })))
  const rowsBefore = moneySums(before)
  const seen = new Set([...rows, ...rowsBefore].map(({ currency }) => currency))
  const countIn = (code: FiatCode) => countOf(rows.filter(({ currency }) => currency === code))
  const currencies = [...seen].sort((one, other) => countIn(other) - countIn(one) || one.localeCompare(other))
  return {
    days,
    /** Currencies in which anything happened, most payments first. */
    currencies,
    /** Money of one day in one currency and coin. */
    rows,
    /** Of the same number of days before. */
    rowsBefore,
    asOf,
  }
}

/** How invoices of the days asked for went on. Medians are exact to within 0.8 %. */
async function readFunnel(deps: Deps, question: OverviewQuestion) {
  const { days, byDay, before, asOf } = await readDays(deps, question)
  const rowsBefore = createdFigures(before)
  return {
    days,
    /** Invoices that were created on one day and have come this far. */
    rows: byDay.flatMap((figures, index) => createdFigures(figures).map((row) => ({ day: days[index] ?? '', ...row }))),
    before: { created: countOf(rowsBefore), paid: countOf(rowsBefore.filter(isPaid)) },
    medianMs: medianDuration(mergeFigures(byDay)),
    beforeMedianMs: medianDuration(before),
    /** One per day, oldest first; null on days without a payment. */
    medianByDay: byDay.map(medianDuration),
    asOf,
  }
}

function countOf(rows: readonly { readonly count: number }[]): number {
  return rows.reduce((total, { count }) => total + count, 0)
}

function isPaid({ status }: CreatedFigure): boolean {
  return status === 'paid' || status === 'overpaid'
}

/** The value below which the given share of values lies, by the nearest rank; null without values. */
export function quantile(values: readonly number[], share: number): number | null {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null
}
