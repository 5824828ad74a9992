import type { FiatCode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import {
  type CreatedRow,
  MAX_ROWS,
  type OverviewReads,
  type OverviewSpan,
  type PaidRow,
} from '#shared/ports/overview.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import { createSingleFlight } from '#shared/usecases/requests/single-flight.ts'
import { lastDays } from './zone-days.ts'

/** Whose figures, and for how many days back. */
export interface OverviewQuestion extends Pick<OverviewSpan, 'workspaceId' | 'mode' | 'zone'> {
  readonly days: number
}

/** What was paid in one currency. */
export interface CurrencyVolume {
  readonly currency: FiatCode
  /** Minor units in the days asked for, and in as many days before. */
  readonly minor: bigint
  readonly beforeMinor: bigint
  readonly count: number
}

/** Paid volume by day. */
export interface Volume {
  readonly days: readonly string[]
  /** Most invoices first. The first one is what a single figure shows. */
  readonly currencies: readonly CurrencyVolume[]
  readonly rows: readonly PaidRow[]
  /** False when there was more than is looked at; then only the newest part is summed. */
  readonly complete: boolean
}

/** How invoices of the days asked for went on. */
export interface Funnel {
  readonly days: readonly string[]
  readonly rows: readonly CreatedRow[]
  readonly before: { readonly created: number; readonly paid: number }
  readonly medianMs: Ms | null
  readonly beforeMedianMs: Ms | null
  /** One per day, oldest first; null on days without a payment. */
  readonly medianByDay: readonly (Ms | null)[]
  readonly complete: boolean
}

/** The figures of the front page. */
export interface Overview {
  volume(question: OverviewQuestion): Promise<Volume>
  funnel(question: OverviewQuestion): Promise<Funnel>
}

/** Figures are made anew at most this often for one question, however many look. */
const KEEP_MS = 5_000
const KEPT_MAX = 500

/** Makes the figures of one process on the given reads. */
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

function spansOf({ clock }: Deps, { days, ...owner }: OverviewQuestion) {
  const now = clock.now()
  const asked = lastDays(now, days, owner.zone)
  const before = lastDays(now, days * 2, owner.zone)
  return {
    days: asked.days,
    span: { ...owner, since: asked.since, until: now + 1 },
    spanBefore: { ...owner, since: before.since, until: asked.since },
  }
}

async function readVolume(deps: Deps, question: OverviewQuestion): Promise<Volume> {
  const { days, span, spanBefore } = spansOf(deps, question)
  const [rows, rowsBefore] = await Promise.all([deps.reads.paid(span), deps.reads.paid(spanBefore)])
  const currencies = [...new Set([...rows, ...rowsBefore].map(({ currency }) => currency))].map((currency) => {
    const own = rows.filter((row) => row.currency === currency)
    const former = rowsBefore.filter((row) => row.currency === currency)
    return { currency, minor: sum(own), beforeMinor: sum(former), count: countOf(own) }
  })
  currencies.sort((one, other) => other.count - one.count || one.currency.localeCompare(other.currency))
  return { days, currencies, rows, complete: countOf(rows) < MAX_ROWS && countOf(rowsBefore) < MAX_ROWS }
}

async function readFunnel(deps: Deps, question: OverviewQuestion): Promise<Funnel> {
  const { days, span, spanBefore } = spansOf(deps, question)
  const { reads } = deps
  const [rows, rowsBefore, times, timesBefore] = await Promise.all([
    reads.created(span),
    reads.created(spanBefore),
    reads.timesToPaid(span),
    reads.timesToPaid(spanBefore),
  ])
  const byDay = new Map<string, Ms[]>()
  for (const { paidAt, tookMs } of times) {
    const [day = ''] = lastDays(paidAt, 1, question.zone).days
    byDay.set(day, [...(byDay.get(day) ?? []), tookMs])
  }
  return {
    days,
    rows,
    before: { created: countOf(rowsBefore), paid: countOf(rowsBefore.filter(isPaid)) },
    medianMs: quantile(
      times.map(({ tookMs }) => tookMs),
      0.5,
    ),
    beforeMedianMs: quantile(
      timesBefore.map(({ tookMs }) => tookMs),
      0.5,
    ),
    medianByDay: days.map((day) => quantile(byDay.get(day) ?? [], 0.5)),
    complete: countOf(rows) < MAX_ROWS && countOf(rowsBefore) < MAX_ROWS,
  }
}

function sum(rows: readonly PaidRow[]): bigint {
  return rows.reduce((total, { minor }) => total + minor, 0n)
}

function countOf(rows: readonly { readonly count: number }[]): number {
  return rows.reduce((total, { count }) => total + count, 0)
}

function isPaid({ status }: CreatedRow): boolean {
  return status === 'paid' || status === 'overpaid'
}

/** The value below which the given share of values lies, by the nearest rank; null without values. */
export function quantile(values: readonly number[], share: number): number | null {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null
}
