import type { EventType } from '#shared/domain/enumerations.ts'
import { eventId } from '#shared/domain/ids.ts'
import type { InvoiceState, LedgerRow, Ms } from '#shared/domain/invoice/model.ts'
import type { ChainHeight, ChangeMark, InvoiceRecords, ReconciliationProgress } from '#shared/ports/reconciliation.ts'
import type { Logger, Metrics } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { checkCredits, checkSums } from './check-ledger.ts'
import { checkDepth, checkPaid, checkStatus } from './check-status.ts'
import type { Finding, Violation } from './violation.ts'

const BATCH = 100
/** A suspected violation is checked this often; each check must find it. */
const LOOKS = 3
const POLL_AGAIN_MS = 1_000
/** A round checks invoices older than this: a write may arrive later than its timestamp, and the outbox needs time. */
const LAG_MS = 600_000
const ROUND_EVERY_MS = 3_600_000
/** Wrong invoices that are stored and checked again in each round. While there are as many, the walk waits, so that none is passed and forgotten. */
const WRONG_MAX = 10_000
/** An id this far ahead of the store's clock was not created just now. */
const AHEAD_MIN_MS = 60_000
/** How many of them are counted at most. */
const AHEAD_MAX = 1_000

/** Dependencies of reconciliation; it never writes to the checked records. */
export type ReconcileDeps = Uses<'reconciliation' | 'cursors' | 'clock'> & {
  pause(ms: Ms): Promise<void>
}

/** Result of a reconciliation. */
export interface ReconciliationReport {
  readonly evaluated: number
  /** Invoices that could not be checked: they changed during each read, or carry an id with a future time. */
  readonly notChecked: number
  readonly violations: readonly Violation[]
}

/**
 * Checks all invoices, or those created or changed since a time, and reports after each batch how many it checked. That
 * includes invoices whose ids carry a later time, because a clock was ahead at creation. Invoices that change during each
 * read are counted and not checked.
 */
export async function reconcile(
  deps: ReconcileDeps,
  input: { readonly since: Ms | null; onProgress(evaluated: number): void },
): Promise<ReconciliationReport> {
  const now = deps.clock.now()
  const createdThrough = input.since === null ? '' : deps.reconciliation.idAt(input.since)
  const from = { createdThrough, changedThrough: { at: input.since ?? now, invoiceId: '' } }
  const violations: Violation[] = []
  let evaluated = 0
  let notChecked = 0
  await walk(deps, from, { created: null, changed: now }, async (batch) => {
    evaluated += batch.evaluated
    notChecked += batch.notChecked
    violations.push(...batch.violations)
    input.onProgress(evaluated)
    return true
  })
  return { evaluated, notChecked, violations }
}

/**
 * One part of an hourly round: checks invoices created or changed since the last one, the first time all of them, and again those
 * that were wrong then. Returns null while no round is due. A stopped round continues at the same place the next time. Each violation
 * is counted and logged once a round; nothing is repaired. At `wrongMax` wrong invoices a round ends before the batch that has more. Invoices whose ids carry a future time are counted in the log and checked
 * when that time has come.
 */
export async function continueReconciliation(
  deps: ReconcileDeps & { readonly metrics: Metrics; readonly logger: Logger },
  shouldStop: () => boolean,
  wrongMax = WRONG_MAX,
): Promise<ReconciliationReport | null> {
  const now = deps.clock.now()
  let progress = (await deps.reconciliation.progress()) ?? beginning(now - LAG_MS)
  const isNew = progress.endedAt !== null
  if (progress.endedAt !== null && now - progress.endedAt < ROUND_EVERY_MS) return null
  const found: Violation[] = []
  let evaluated = 0
  let notChecked = 0
  const note = async (batch: ReconciliationReport, next: Partial<ReconciliationProgress>): Promise<void> => {
    evaluated += batch.evaluated
    notChecked += batch.notChecked
    found.push(...batch.violations)
    for (const violation of batch.violations) report(deps, violation)
    deps.metrics.count('reconciliation_checked_total', {}, batch.evaluated)
    progress = { ...progress, ...next, endedAt: null, wrong: together(next.wrong ?? progress.wrong, batch) }
    await deps.reconciliation.saveProgress(progress)
  }
  for (let rest = isNew ? progress.wrong : []; rest.length > 0 && !shouldStop(); ) {
    const batch = rest.slice(0, BATCH)
    rest = rest.slice(BATCH)
    const unchanged = progress.wrong.filter((id) => !batch.includes(id))
    await note(await checkBatch(deps, batch), { wrong: unchanged })
  }
  const until = now - LAG_MS
  let isFull = false
  const atEnd = await walk(deps, progress, { created: until, changed: until }, async (batch) => {
    isFull = together(progress.wrong, batch).length > wrongMax
    if (isFull) return false
    await note(batch, batch.place)
    return !shouldStop()
  })
  if (isFull) {
    deps.logger.error(
      { invoices: progress.wrong.length },
      'so many invoices are inconsistent that later ones are not checked',
    )
    await deps.reconciliation.saveProgress({ ...progress, endedAt: now })
  }
  if (atEnd) {
    await deps.reconciliation.saveProgress({ ...progress, endedAt: now })
    notChecked += await countAhead(deps, now)
  }
  return { evaluated, notChecked, violations: found }
}

const together = (wrong: readonly string[], { violations }: ReconciliationReport): readonly string[] => [
  ...new Set([...wrong, ...violations.map(({ invoiceId }) => invoiceId)]),
]

/** Ids with a future time come from a clock that was ahead; no other log line would mention that they wait. */
async function countAhead(deps: ReconcileDeps & { readonly logger: Logger }, now: Ms): Promise<number> {
  const ids = await deps.reconciliation.created(deps.reconciliation.firstIdAt(now + AHEAD_MIN_MS), null, AHEAD_MAX)
  if (ids.length > 0) {
    deps.logger.warn({ invoices: ids.length, first: ids[0] }, 'invoices with ids of a later time are not checked yet')
  }
  return ids.length
}

type Place = Pick<ReconciliationProgress, 'createdThrough' | 'changedThrough'>

/** Before the first invoice; changes from `at` on are read by their time. */
const beginning = (at: Ms): ReconciliationProgress => ({
  createdThrough: '',
  changedThrough: { at, invoiceId: '' },
  wrong: [],
  endedAt: null,
})

/** Walks creations, then changes, until a batch requests a stop; true when it reached the end. */
async function walk(
  deps: ReconcileDeps,
  from: Place,
  until: { readonly created: Ms | null; readonly changed: Ms },
  onBatch: (batch: ReconciliationReport & { readonly place: Place }) => Promise<boolean>,
): Promise<boolean> {
  let place = from
  for (;;) {
    const ids = await deps.reconciliation.created(place.createdThrough, until.created, BATCH)
    const last = ids.at(-1)
    if (last === undefined) break
    place = { ...place, createdThrough: last }
    if (!(await onBatch({ ...(await checkBatch(deps, ids)), place }))) return false
  }
  for (;;) {
    const marks: readonly ChangeMark[] = await deps.reconciliation.changed(place.changedThrough, until.changed, BATCH)
    const last = marks.at(-1)
    if (last === undefined) return true
    place = { ...place, changedThrough: last }
    // Invoices created on this walk were checked on it, with all their changes up to here.
    const ids = marks.map(({ invoiceId }) => invoiceId).filter((id) => id <= from.createdThrough)
    if (!(await onBatch({ ...(await checkBatch(deps, ids)), place }))) return false
  }
}

/** A suspected violation is checked again after a pause: a write may have been half visible. The same for an invoice that changed during a read. */
async function checkBatch(deps: ReconcileDeps, ids: readonly string[]): Promise<ReconciliationReport> {
  const first = await look(deps, ids)
  let { violations, unseen } = first
  for (let looks = 1; looks < LOOKS && violations.length + unseen.length > 0; looks += 1) {
    await deps.pause(POLL_AGAIN_MS)
    const next = await look(deps, [...new Set([...violations.map(({ invoiceId }) => invoiceId), ...unseen])])
    violations = next.violations
    unseen = next.unseen
  }
  return { evaluated: ids.length - unseen.length, notChecked: unseen.length, violations }
}

interface Look {
  readonly violations: readonly Violation[]
  /** Invoices that changed while they were read. */
  readonly unseen: readonly string[]
}

async function look(deps: ReconcileDeps, ids: readonly string[]): Promise<Look> {
  if (ids.length === 0) return { violations: [], unseen: [] }
  const records = await deps.reconciliation.read(ids, deps.clock.now())
  const cursors = await deps.cursors.list()
  const seen = new Set(records.map(({ invoice }) => invoice.terms.id))
  return { violations: records.flatMap((one) => checkRecords(one, cursors)), unseen: ids.filter((id) => !seen.has(id)) }
}

function report(
  deps: { readonly metrics: Metrics; readonly logger: Logger },
  { invariant, invoiceId, paymentKey, words }: Violation,
): void {
  deps.metrics.count('invariant_violation_total', { invariant })
  deps.logger.error({ invariant, invoiceId, paymentKey, reason: words }, 'the records of an invoice are inconsistent')
}

/**
 * Everything that is wrong with an invoice; empty when its records agree. `cursors` are those of all scanners, read after the records. A
 * payment waiting to be applied and an outbox waiting to be relayed are not wrong: their sweeps have separate alerts.
 */
export function checkRecords(records: InvoiceRecords, cursors: readonly ChainHeight[]): readonly Violation[] {
  const credits = checkCredits(records)
  // Findings that follow from missing money would only repeat it.
  const rest =
    credits.length > 0
      ? []
      : [
          ...checkSums(records),
          ...checkStatus(records.invoice),
          ...checkPaid(records),
          ...checkDepth(records, cursors),
          ...checkPublished(records),
        ]
  const findings = [...checkKey(records), ...credits, ...rest]
  const invoiceId = records.invoice.terms.id
  return findings.map(({ invariant, words, paymentKey }) => ({
    invariant,
    invoiceId,
    paymentKey: paymentKey ?? null,
    words,
  }))
}

function checkKey({ keySharedWith }: InvoiceRecords): readonly Finding[] {
  if (keySharedWith.length === 0) return []
  return [{ invariant: 'one_key', words: `its idempotency key also made ${keySharedWith.join(' ')}` }]
}

/**
 * Checks an invoice's events: numbers without a gap or a duplicate, up to the last one assigned; the last event matches its status; each payment
 * was announced once. Entries still in the outbox count as published. Expired events are not required.
 */
function checkPublished(records: InvoiceRecords): readonly Finding[] {
  const always = [...doubles(records), ...strangers(records), ...outboxFaults(records)]
  const published = records.eventsComplete ? [...gaps(records), ...lastWord(records), ...announcements(records)] : []
  return [...always, ...published].map((words) => ({ invariant: 'events', words }))
}

function doubles({ events }: InvoiceRecords): readonly string[] {
  const seen = new Set<number>()
  return events.flatMap(({ seq }) => {
    const known = seen.has(seq)
    seen.add(seq)
    return known ? [`number ${seq} was given to two events`] : []
  })
}

function strangers({ invoice, events }: InvoiceRecords): readonly string[] {
  const { terms, state } = invoice
  return events.flatMap(({ id, seq, workspaceId, mode }) => {
    if (seq < 1 || seq > state.eventSeq) return [`event ${id} has number ${seq} of ${state.eventSeq}`]
    // The time follows, unless the event is one of the creation.
    const isItsId = id === eventId(terms.id, seq) || id.startsWith(`${eventId(terms.id, seq)}_`)
    const own = isItsId && workspaceId === terms.workspaceId && mode === terms.mode
    return own ? [] : [`event ${id} with number ${seq} is not its own`]
  })
}

/** The outbox holds the last numbers, in order. */
function outboxFaults({ invoice }: InvoiceRecords): readonly string[] {
  const { outbox, state } = invoice
  const from = state.eventSeq - outbox.length + 1
  const inOrder = outbox.every(({ seq }, index) => seq === from + index)
  return inOrder ? [] : [`its outbox holds ${outbox.map(({ seq }) => seq).join(' ')} of ${state.eventSeq}`]
}

/** Exception entries have no number: if there are any, a missing number may be theirs. */
function gaps({ invoice, events, seqsElsewhere, inboxEntries }: InvoiceRecords): readonly string[] {
  if (inboxEntries > 0) return []
  const published = new Set([
    ...events.map(({ seq }) => seq),
    ...invoice.outbox.map(({ seq }) => seq),
    ...seqsElsewhere,
  ])
  const missing = Array.from({ length: invoice.state.eventSeq }, (_, index) => index + 1).filter(
    (seq) => !published.has(seq),
  )
  return missing.length === 0 ? [] : [`numbers ${missing.join(' ')} of ${invoice.state.eventSeq} told nobody anything`]
}

/** Types of all events of an invoice in order, waiting ones included. */
function typesOf({ invoice, events }: InvoiceRecords): readonly string[] {
  const waiting = invoice.outbox.filter(({ kind }) => kind === 'event')
  const bySeq = new Map<number, string>([...events, ...waiting].map(({ seq, type }) => [seq, type]))
  return [...bySeq].sort(([left], [right]) => left - right).map(([, type]) => type)
}

function lastWord(records: InvoiceRecords): readonly string[] {
  const { status } = records.invoice.state
  const said = typesOf(records).findLast((type) => type.startsWith('invoice.') && type !== 'invoice.late_payment')
  const expected = status === 'new' ? 'invoice.created' : `invoice.${status}`
  return said === expected ? [] : [`it is ${status} and said ${said ?? 'nothing'} last`]
}

const ANNOUNCED: readonly (readonly [EventType, (row: LedgerRow) => boolean])[] = [
  ['payment.detected', (row) => row.detected],
  ['payment.confirmed', (row) => row.confirmed],
  // An operator who counts dust decides about its lateness as well, and nothing is said.
  ['invoice.late_payment', (row) => row.lateAnnounced && row.countedByHand !== true],
]

/** Payments that an operator accepted were announced before that, or never. */
function announcements(records: InvoiceRecords): readonly string[] {
  const types = typesOf(records)
  const { ledger }: Pick<InvoiceState, 'ledger'> = records.invoice.state
  return ANNOUNCED.flatMap(([type, wasAnnounced]) => {
    const published = types.filter((other) => other === type).length
    const most = ledger.filter(wasAnnounced).length
    const least = ledger.filter((row) => wasAnnounced(row) && row.acceptedBase === null).length
    return published >= least && published <= most
      ? []
      : [`${type} was published ${published} times for ${most} payments`]
  })
}
