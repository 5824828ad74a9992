import type { EventType } from '#shared/domain/enumerations.ts'
import { eventId } from '#shared/domain/ids.ts'
import type { InvoiceState, LedgerRow } from '#shared/domain/invoice/model.ts'
import type { InvoiceRecords } from '#shared/ports/reconciliation.ts'
import type { Finding } from './violation.ts'

/**
 * Checks an invoice's events: numbers without a gap or a duplicate, up to the last one assigned; the last event matches its status; each payment
 * was announced once. Entries still in the outbox count as published. Expired events are not required.
 */
export function checkPublished(records: InvoiceRecords): readonly Finding[] {
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
    const own = id === eventId(terms.id, seq) && workspaceId === terms.workspaceId && mode === terms.mode
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
