import type { EventType } from '#shared/domain/enumerations.ts'
import { eventId } from '#shared/domain/ids.ts'
import type { InvoiceState, LedgerRow } from '#shared/domain/invoice/model.ts'
import type { Books } from '#shared/ports/reconciliation.ts'
import type { Finding } from './violation.ts'

/**
 * What an invoice told: numbers without a gap or a double, up to the last that it says it gave; its last word is its status; each payment
 * was announced once. What still waits in the outbox counts as told. Events that are past their life are not asked for.
 */
export function judgeTold(books: Books): readonly Finding[] {
  const always = [...doubles(books), ...strangers(books), ...outboxFaults(books)]
  const told = books.eventsComplete ? [...gaps(books), ...lastWord(books), ...announcements(books)] : []
  return [...always, ...told].map((words) => ({ invariant: 'events', words }))
}

function doubles({ events }: Books): readonly string[] {
  const seen = new Set<number>()
  return events.flatMap(({ seq }) => {
    const known = seen.has(seq)
    seen.add(seq)
    return known ? [`number ${seq} was given to two events`] : []
  })
}

function strangers({ invoice, events }: Books): readonly string[] {
  const { terms, state } = invoice
  return events.flatMap(({ id, seq, workspaceId, mode }) => {
    if (seq < 1 || seq > state.eventSeq) return [`event ${id} has number ${seq} of ${state.eventSeq}`]
    const own = id === eventId(terms.id, seq) && workspaceId === terms.workspaceId && mode === terms.mode
    return own ? [] : [`event ${id} with number ${seq} is not its own`]
  })
}

/** The outbox holds the last numbers, in their order. */
function outboxFaults({ invoice }: Books): readonly string[] {
  const { outbox, state } = invoice
  const from = state.eventSeq - outbox.length + 1
  const inOrder = outbox.every(({ seq }, index) => seq === from + index)
  return inOrder ? [] : [`its outbox holds ${outbox.map(({ seq }) => seq).join(' ')} of ${state.eventSeq}`]
}

/** Entries of the inbox keep no number: where there are some, what is missing may be theirs. */
function gaps({ invoice, events, seqsElsewhere, inboxEntries }: Books): readonly string[] {
  if (inboxEntries > 0) return []
  const told = new Set([...events.map(({ seq }) => seq), ...invoice.outbox.map(({ seq }) => seq), ...seqsElsewhere])
  const missing = Array.from({ length: invoice.state.eventSeq }, (_, index) => index + 1).filter(
    (seq) => !told.has(seq),
  )
  return missing.length === 0 ? [] : [`numbers ${missing.join(' ')} of ${invoice.state.eventSeq} told nobody anything`]
}

/** Types of all events of an invoice in their order, those that wait included. */
function typesOf({ invoice, events }: Books): readonly string[] {
  const waiting = invoice.outbox.filter(({ kind }) => kind === 'event')
  const bySeq = new Map<number, string>([...events, ...waiting].map(({ seq, type }) => [seq, type]))
  return [...bySeq].sort(([left], [right]) => left - right).map(([, type]) => type)
}

function lastWord(books: Books): readonly string[] {
  const { status } = books.invoice.state
  const said = typesOf(books).findLast((type) => type.startsWith('invoice.') && type !== 'invoice.late_payment')
  const expected = status === 'new' ? 'invoice.created' : `invoice.${status}`
  return said === expected ? [] : [`it is ${status} and said ${said ?? 'nothing'} last`]
}

const ANNOUNCED: readonly (readonly [EventType, (row: LedgerRow) => boolean])[] = [
  ['payment.detected', (row) => row.detected],
  ['payment.confirmed', (row) => row.confirmed],
  ['invoice.late_payment', (row) => row.lateAnnounced],
]

/** Payments that count by an operator's word were announced before it, or never. */
function announcements(books: Books): readonly string[] {
  const types = typesOf(books)
  const { ledger }: Pick<InvoiceState, 'ledger'> = books.invoice.state
  return ANNOUNCED.flatMap(([type, wasAnnounced]) => {
    const told = types.filter((other) => other === type).length
    const most = ledger.filter(wasAnnounced).length
    const least = ledger.filter((row) => wasAnnounced(row) && row.acceptedBase === null).length
    return told >= least && told <= most ? [] : [`${type} was told ${told} times for ${most} payments`]
  })
}
