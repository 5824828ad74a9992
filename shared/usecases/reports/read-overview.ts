import type { OverviewReads } from '#shared/db/reports/overview-reads.ts'
import type { FiatCode, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import {
  type CreatedFigure,
  createdFigures,
  type InvoiceFigures,
  medianDuration,
  mergeFigures,
  type PaidFigure,
  paidFigures,
} from '#shared/domain/reports/invoice-figures.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import { createSingleFlight } from '#shared/usecases/requests/single-flight.ts'
import { dayStarts, lastDays } from './zone-days.ts'

/** Whose figures, and for how many days back; days are those of `zone`, an IANA name. */
export interface OverviewQuestion {
  readonly workspaceId: string
  readonly mode: Mode
  readonly zone: string
  readonly days: number
}

/** Amount paid in one currency. */
export interface CurrencyVolume {
  readonly currency: FiatCode
  /** Minor units in the requested days, and in the same number of days before. */
  readonly minor: bigint
  readonly beforeMinor: bigint
  readonly count: number
}

/** Invoices that were paid on one day in one currency with one coin. */
export interface PaidRow extends PaidFigure {
  /** `2026-11-19`. */
  readonly day: string
}

/** Invoices that were created on one day and have come this far. */
export interface CreatedRow extends CreatedFigure {
  readonly day: string
}

/** Paid volume by day. */
export interface Volume {
  readonly days: readonly string[]
  /** Most invoices first. The first one is shown where only one figure fits. */
  readonly currencies: readonly CurrencyVolume[]
  readonly rows: readonly PaidRow[]
  /** Of the same number of days before. */
  readonly rowsBefore: readonly PaidFigure[]
  /** When changes were last counted; null while the figures were never complete. */
  readonly asOf: Ms | null
}

/** How invoices of the days asked for went on. Medians are exact to within 0.8 %. */
export interface Funnel {
  readonly days: readonly string[]
  readonly rows: readonly CreatedRow[]
  readonly before: { readonly created: number; readonly paid: number }
  readonly medianMs: Ms | null
  readonly beforeMedianMs: Ms | null
  /** One per day, oldest first; null on days without a payment. */
  readonly medianByDay: readonly (Ms | null)[]
  readonly asOf: Ms | null
}

/** The figures of the front page. */
export interface Overview {
  volume(question: OverviewQuestion): Promise<Volume>
  funnel(question: OverviewQuestion): Promise<Funnel>
}

/** Figures are computed at most this often for one query, however many viewers there are. */
const KEEP_MS = 5_000
const KEPT_MAX = 500

/** Computes and caches the figures of one process from the given reads. */
export function createOverview(deps: { readonly reads: OverviewReads; readonly clock: Clock }): Overview {
  const volume = keeping(deps.clock, (question) => readVolume(deps, question))
  const funnel = keeping(deps.clock, (question) => readFunnel(deps, question))
  return { volume, funnel }
}

type Deps = Parameters<typeof createOverview>[0]

function keeping<T>(clock: Clock, read: (question: OverviewQuestion) => Promise<T>) {
  const kept = new Map<string, { readonly at: Ms; readonly value: T }>()
  const flight = createSingleFlight<T>()
  return async (question: OverviewQuestion): Promise<T> => {
    const key = JSON.stringify([question.workspaceId, question.mode, question.zone, question.days])
    const known = kept.get(key)
    if (known !== undefined && clock.now() - known.at < KEEP_MS) return known.value
    const value = await flight(key, () => read(question))
    if (kept.size >= KEPT_MAX) kept.clear()
    kept.set(key, { at: clock.now(), value })
    return value
  }
}

interface Read {
  /** The days asked for, oldest first. */
  readonly days: readonly string[]
  /** The figures of each of them. */
  readonly byDay: readonly InvoiceFigures[]
  /** Of as many days before. */
  readonly before: InvoiceFigures
  readonly asOf: Ms | null
}

const HOUR_MS = 3_600_000

async function readDays(
  { clock, reads }: Deps,
  { workspaceId, mode, zone, days: count }: OverviewQuestion,
): Promise<Read> {
  const now = clock.now()
  const { days } = lastDays(now, count * 2, zone)
  const starts = dayStarts(days, zone)
  const span = { workspaceId, mode, since: starts[0] ?? now, until: now + HOUR_MS }
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
  return { days: days.slice(count), byDay: byDay.slice(count), before: mergeFigures(byDay.slice(0, count)), asOf }
}

async function readVolume(deps: Deps, question: OverviewQuestion): Promise<Volume> {
  const { days, byDay, before, asOf } = await readDays(deps, question)
  const rows = byDay.flatMap((figures, index) =>
    paidFigures(figures).map((row): PaidRow => ({ day: days[index] ?? '', ...row })),
  )
  const rowsBefore = paidFigures(before)
  const currencies = [...new Set([...rows, ...rowsBefore].map(({ currency }) => currency))].map((currency) => {
    const own = rows.filter((row) => row.currency === currency)
    const former = rowsBefore.filter((row) => row.currency === currency)
    return { currency, minor: sum(own), beforeMinor: sum(former), count: countOf(own) }
  })
  currencies.sort((one, other) => other.count - one.count || one.currency.localeCompare(other.currency))
  return { days, currencies, rows, rowsBefore, asOf }
}

async function readFunnel(deps: Deps, question: OverviewQuestion): Promise<Funnel> {
  const { days, byDay, before, asOf } = await readDays(deps, question)
  const rowsBefore = createdFigures(before)
  return {
    days,
    rows: byDay.flatMap((figures, index) =>
      createdFigures(figures).map((row): CreatedRow => ({ day: days[index] ?? '', ...row })),
    ),
    before: { created: countOf(rowsBefore), paid: countOf(rowsBefore.filter(isPaid)) },
    medianMs: medianDuration(mergeFigures(byDay)),
    beforeMedianMs: medianDuration(before),
    medianByDay: byDay.map(medianDuration),
    asOf,
  }
}

function sum(rows: readonly PaidFigure[]): bigint {
  return rows.reduce((total, { minor }) => total + minor, 0n)
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
