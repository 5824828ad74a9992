import type { Ms } from '#shared/domain/invoice/model.ts'
import type { BooksProgress, BooksRepository, ChangeMark } from '#shared/ports/reconciliation.ts'
import type { Clock, Logger, Metrics } from '#shared/ports/runtime.ts'
import type { CursorRepository } from '#shared/ports/scanning.ts'
import { judgeBooks } from './check-invoice.ts'
import type { Violation } from './violation.ts'

const BATCH = 100
/** What looks wrong is looked at so often; each of them must say so. */
const LOOKS = 3
const LOOK_AGAIN_MS = 1_000
/** A round judges what is older: a write may come later than its time says, and the outbox gets its turn. */
const LAG_MS = 600_000
const ROUND_EVERY_MS = 3_600_000
/** Wrong invoices that are judged again in each round; with more of them nobody needs the list. */
const WRONG_MAX = 200
/** An id further ahead of the store's clock than this was not made just now. */
const AHEAD_MIN_MS = 60_000
/** How many of them are counted. */
const AHEAD_MAX = 1_000

/** What judging the books needs; nothing of them is ever written. */
export interface CheckBooksDeps {
  readonly books: BooksRepository
  readonly cursors: Pick<CursorRepository, 'list'>
  readonly clock: Clock
  pause(ms: Ms): Promise<void>
}

/** What walking the books showed. */
export interface BooksReport {
  readonly judged: number
  /** Invoices that were looked at and not judged: they changed during each look, or carry an id of a time yet to come. */
  readonly notJudged: number
  readonly violations: readonly Violation[]
}

/**
 * Judges all invoices, or those that were created or changed since then, and reports after each batch how many it judged. That
 * includes invoices whose ids carry a later time, because a clock was ahead when they were made. Invoices that change during each
 * look are counted and not judged.
 */
export async function checkBooks(
  deps: CheckBooksDeps,
  input: { readonly since: Ms | null; onProgress(judged: number): void },
): Promise<BooksReport> {
  const now = deps.clock.now()
  const createdThrough = input.since === null ? '' : deps.books.idAt(input.since)
  const from = { createdThrough, changedThrough: { at: input.since ?? now, invoiceId: '' } }
  const violations: Violation[] = []
  let judged = 0
  let notJudged = 0
  await walk(deps, from, { created: null, changed: now }, async (batch) => {
    judged += batch.judged
    notJudged += batch.notJudged
    violations.push(...batch.violations)
    input.onProgress(judged)
    return true
  })
  return { judged, notJudged, violations }
}

/**
 * One part of an hourly round: judges what was created or changed since the last one, the first time everything, and once more what
 * was wrong then. Returns null while no round is due. A round that is told to stop goes on where it was the next time. Each violation
 * is counted and logged once a round; nothing is repaired. Invoices whose ids carry a later time are counted in the log and judged
 * when that time has come.
 */
export async function continueBooks(
  deps: CheckBooksDeps & { readonly metrics: Metrics; readonly logger: Logger },
  shouldStop: () => boolean,
): Promise<BooksReport | null> {
  const now = deps.clock.now()
  let progress = (await deps.books.progress()) ?? beginning(now - LAG_MS)
  const isNew = progress.endedAt !== null
  if (progress.endedAt !== null && now - progress.endedAt < ROUND_EVERY_MS) return null
  const found: Violation[] = []
  let judged = 0
  let notJudged = 0
  const note = async (batch: BooksReport, next: Partial<BooksProgress>): Promise<void> => {
    judged += batch.judged
    notJudged += batch.notJudged
    found.push(...batch.violations)
    for (const violation of batch.violations) report(deps, violation)
    deps.metrics.count('books_judged_total', {}, batch.judged)
    const wrong = new Set([...(next.wrong ?? progress.wrong), ...batch.violations.map(({ invoiceId }) => invoiceId)])
    progress = { ...progress, ...next, endedAt: null, wrong: [...wrong].slice(0, WRONG_MAX) }
    await deps.books.saveProgress(progress)
  }
  if (isNew) await note(await judgeBatch(deps, progress.wrong), { wrong: [] })
  const until = now - LAG_MS
  const atEnd = await walk(deps, progress, { created: until, changed: until }, async (batch) => {
    await note(batch, batch.place)
    return !shouldStop()
  })
  if (atEnd) {
    await deps.books.saveProgress({ ...progress, endedAt: now })
    notJudged += await countAhead(deps, now)
  }
  return { judged, notJudged, violations: found }
}

/** Ids of a later time than now come from a clock that was ahead; nobody else would mention that they wait. */
async function countAhead(deps: CheckBooksDeps & { readonly logger: Logger }, now: Ms): Promise<number> {
  const ids = await deps.books.created(deps.books.firstIdAt(now + AHEAD_MIN_MS), null, AHEAD_MAX)
  if (ids.length > 0) {
    deps.logger.warn({ invoices: ids.length, first: ids[0] }, 'invoices with ids of a later time are not checked yet')
  }
  return ids.length
}

type Place = Pick<BooksProgress, 'createdThrough' | 'changedThrough'>

/** Before the first invoice; what changes from `at` on is asked for by its change. */
const beginning = (at: Ms): BooksProgress => ({
  createdThrough: '',
  changedThrough: { at, invoiceId: '' },
  wrong: [],
  endedAt: null,
})

/** Walks creations, then changes, until a batch says stop; true when it came to the end. */
async function walk(
  deps: CheckBooksDeps,
  from: Place,
  until: { readonly created: Ms | null; readonly changed: Ms },
  onBatch: (batch: BooksReport & { readonly place: Place }) => Promise<boolean>,
): Promise<boolean> {
  let place = from
  for (;;) {
    const ids = await deps.books.created(place.createdThrough, until.created, BATCH)
    const last = ids.at(-1)
    if (last === undefined) break
    place = { ...place, createdThrough: last }
    if (!(await onBatch({ ...(await judgeBatch(deps, ids)), place }))) return false
  }
  for (;;) {
    const marks: readonly ChangeMark[] = await deps.books.changed(place.changedThrough, until.changed, BATCH)
    const last = marks.at(-1)
    if (last === undefined) return true
    place = { ...place, changedThrough: last }
    // What was created on this walk was judged on it, with all its changes up to here.
    const ids = marks.map(({ invoiceId }) => invoiceId).filter((id) => id <= from.createdThrough)
    if (!(await onBatch({ ...(await judgeBatch(deps, ids)), place }))) return false
  }
}

/** What looks wrong is looked at again after a pause: a write may have been half seen. So is what changed during a look. */
async function judgeBatch(deps: CheckBooksDeps, ids: readonly string[]): Promise<BooksReport> {
  const first = await look(deps, ids)
  let { violations, unseen } = first
  for (let looks = 1; looks < LOOKS && violations.length + unseen.length > 0; looks += 1) {
    await deps.pause(LOOK_AGAIN_MS)
    const next = await look(deps, [...new Set([...violations.map(({ invoiceId }) => invoiceId), ...unseen])])
    violations = next.violations
    unseen = next.unseen
  }
  return { judged: ids.length - unseen.length, notJudged: unseen.length, violations }
}

interface Look {
  readonly violations: readonly Violation[]
  /** Invoices that changed while they were read. */
  readonly unseen: readonly string[]
}

async function look(deps: CheckBooksDeps, ids: readonly string[]): Promise<Look> {
  if (ids.length === 0) return { violations: [], unseen: [] }
  const books = await deps.books.read(ids, deps.clock.now())
  const cursors = await deps.cursors.list()
  const seen = new Set(books.map(({ invoice }) => invoice.terms.id))
  return { violations: books.flatMap((one) => judgeBooks(one, cursors)), unseen: ids.filter((id) => !seen.has(id)) }
}

function report(
  deps: { readonly metrics: Metrics; readonly logger: Logger },
  { invariant, invoiceId, paymentKey, words }: Violation,
): void {
  deps.metrics.count('invariant_violation_total', { invariant })
  deps.logger.error({ invariant, invoiceId, paymentKey, reason: words }, 'the books of an invoice are wrong')
}
