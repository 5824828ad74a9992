import type {
  InvoiceDocument,
  LedgerDocument,
  OutboxDocument,
  PaymentMethodDocument,
} from '#shared/db/invoices/invoice-model.ts'
import type { InvoiceStatus } from '#shared/domain/enumerations.ts'
import { must } from '../kernel/violation.ts'
import type { History } from './history.ts'

/**
 * Where an invoice may go in one change; staying is always allowed. Read from the interface, not from the code. A change may pass
 * several states: money that vanished first takes an invoice back to pending, whence it can be cancelled.
 */
const LEGAL: Readonly<Record<InvoiceStatus, readonly InvoiceStatus[]>> = {
  new: ['pending', 'expired', 'cancelled'],
  pending: ['partial', 'confirming', 'paid', 'overpaid', 'expired', 'cancelled'],
  partial: ['pending', 'confirming', 'paid', 'overpaid', 'expired', 'cancelled'],
  confirming: ['pending', 'partial', 'paid', 'overpaid', 'expired', 'cancelled'],
  paid: ['overpaid'],
  overpaid: [],
  expired: ['confirming', 'paid', 'overpaid', 'cancelled'],
  cancelled: ['paid', 'overpaid'],
}

const DAY_MS = 86_400_000
const isLive = (row: LedgerDocument): boolean => row.state === 'detected' || row.state === 'confirmed'
const isPaid = (status: InvoiceStatus): boolean => status === 'paid' || status === 'overpaid'

/** S4, S5, S6, S8, S9 for one write of one invoice. */
export function checkInvoiceChange(history: History, before: InvoiceDocument | null, after: InvoiceDocument): void {
  const { _id: id } = after
  if (before === null) {
    must(after.version === 1, 'S4', () => `invoice ${id} begins with version ${after.version}`)
    must(after.status === 'new' || after.status === 'pending', 'S4', () => `invoice ${id} begins as ${after.status}`)
    checkEntries(history, null, after)
    checkClaims(history, null, after)
    checkKey(history, after)
    return
  }
  if (before.version === after.version) {
    for (const field of ['status', 'ledger', 'paymentMethods', 'eventSeq', 'expiresAt', 'updatedAt'] as const) {
      must(before[field] === after[field], 'S4', () => `invoice ${id} changed ${field} without a new version`)
    }
    const kept = new Set(after.outbox.map(({ seq }) => seq))
    must(
      after.outbox.length <= before.outbox.length,
      'S9',
      () => `invoice ${id} got outbox entries without a new version`,
    )
    for (const entry of before.outbox) if (!kept.has(entry.seq)) history.mustBeRelayed(after, entry)
    return
  }
  must(
    after.version === before.version + 1,
    'S4',
    () => `invoice ${id} went from version ${before.version} to ${after.version}`,
  )
  must(
    after.updatedAt > before.updatedAt || before.updatedAt === after.updatedAt,
    'S4',
    () => `invoice ${id} went back in time`,
  )
  const legal = before.status === after.status || LEGAL[before.status].includes(after.status)
  must(legal, 'S4', () => `invoice ${id} went from ${before.status} to ${after.status}`)
  checkPromises(before, after)
  const cancelled = after.status === 'cancelled' && before.status !== 'cancelled'
  const funded = after.ledger.some((row) => row.counted && isLive(row))
  must(!cancelled || !funded, 'S4', () => `invoice ${id} was cancelled with money on it`)
  checkClaims(history, before, after)
  checkEntries(history, before, after)
  if (isPaid(after.status) && !isPaid(before.status)) checkPaid(history, after)
  const moved = before.expiresAt.getTime() !== after.expiresAt.getTime()
  const waited = before.status === 'pending' || before.status === 'partial'
  if (after.status === 'expired' && waited && !moved) history.mustBeScanned(after)
}

/** S8: what was promised stays as it was. */
function checkPromises(before: InvoiceDocument, after: InvoiceDocument): void {
  for (const [index, paymentMethod] of before.paymentMethods.entries()) {
    const now = after.paymentMethods[index]
    const same =
      now !== undefined &&
      (['asset', 'network', 'address', 'matchKey', 'requiredConfirmations'] as const).every(
        (field) => paymentMethod[field] === now[field],
      ) &&
      JSON.stringify(paymentMethod.policy) === JSON.stringify(now.policy) &&
      JSON.stringify(now.quotes.slice(0, paymentMethod.quotes.length)) === JSON.stringify(paymentMethod.quotes)
    must(same, 'S8', () => `a promise of invoice ${after._id} changed`)
  }
}

/** S6: what a payer was shown is held by one invoice at a time, and long enough. */
function checkClaims(history: History, before: InvoiceDocument | null, after: InvoiceDocument): void {
  for (const [index, paymentMethod] of after.paymentMethods.entries()) {
    const released = paymentMethod.hold?.releasedAt ?? null
    if (released !== null) {
      const end = Math.max(...paymentMethod.quotes.map((quote) => quote.expiresAt.getTime())) + DAY_MS
      must(
        released.getTime() >= end - 1_000,
        'S6',
        () => `invoice ${after._id} gave ${paymentMethod.claim} back ${end - released.getTime()} ms too early`,
      )
      history.release(placeOf(after, paymentMethod), after._id)
      continue
    }
    must(
      after.claims?.includes(paymentMethod.claim) === true,
      'S6',
      () => `invoice ${after._id} shows ${paymentMethod.address} and holds no claim on it`,
    )
    if (before?.paymentMethods[index] === undefined) history.mustBePriced(after, paymentMethod)
    if (before?.paymentMethods[index] === undefined || before.paymentMethods[index].claim !== paymentMethod.claim)
      history.hold(placeOf(after, paymentMethod), after._id)
  }
}

function placeOf(invoice: InvoiceDocument, paymentMethod: PaymentMethodDocument): string {
  if (paymentMethod.hold?.kind !== 'amount') return `${invoice.mode}:${paymentMethod.family}:${paymentMethod.matchKey}`
  return `${invoice.mode}:${paymentMethod.network}:${paymentMethod.matchKey}:${paymentMethod.asset}:${paymentMethod.quotes.at(-1)?.amountBase}`
}

/** S1: one key, one invoice, within the window of a key. */
function checkKey(history: History, invoice: InvoiceDocument): void {
  if (invoice.idem === undefined) return
  const key = `${invoice.workspaceId}:${invoice.mode}:${invoice.idem.key}`
  const earlier = history.createdUnder.get(key)
  const { now } = history
  must(earlier === undefined || now - earlier > DAY_MS - 60_000, 'S1', () => `two invoices were created under ${key}`)
  history.createdUnder.set(key, now)
}

/** S5: paid means that confirmed money covers what is due. */
function checkPaid(history: History, invoice: InvoiceDocument): void {
  const paymentMethod = invoice.paymentMethods.findLast(({ to }) => to === null)
  must(paymentMethod !== undefined, 'S5', () => `invoice ${invoice._id} is paid in no asset`)
  const [due = 0n] = paymentMethod.quotes
    .map(({ amountBase, rest }) => BigInt(rest?.wholeBase ?? amountBase))
    .sort((a, b) => (a < b ? -1 : 1))
  let sum = BigInt(invoice.others?.confirmedBase ?? '0')
  for (const row of invoice.ledger) {
    if (!row.counted || !row.eligible || row.state !== 'confirmed') continue
    sum += BigInt(row.acceptedBase ?? row.amountBase)
    history.mustBeConfirmed(invoice._id, row.payment, row.version)
  }
  const needed = due - BigInt(paymentMethod.policy.toleranceBase)
  // A person's word settles an invoice for less, and the invoice says so.
  const byText = invoice.underpaidAccepted && invoice.ledger.some(({ acceptedBase }) => acceptedBase !== null)
  must(sum >= needed || byText, 'S5', () => `invoice ${invoice._id} is paid with ${sum} of ${needed}`)
}

/** S9: each change carries exactly the events it stands for, in their order, with numbers without gaps. */
function checkEntries(history: History, before: InvoiceDocument | null, after: InvoiceDocument): void {
  const from = before?.eventSeq ?? 0
  const fresh = after.outbox.filter(({ seq }) => seq > from)
  const name = `invoice ${after._id} version ${after.version}`
  must(
    after.eventSeq - from === fresh.length,
    'S9',
    () => `${name} counts ${after.eventSeq - from} entries and has ${fresh.length}`,
  )
  for (const [index, entry] of fresh.entries()) {
    must(
      entry.seq === from + index + 1,
      'S9',
      () => `${name} has entry ${entry.seq} in the place of ${from + index + 1}`,
    )
    must(
      entry.eventId ===
        `evt_${after._id.replaceAll('-', '')}_${entry.seq.toString(36)}${entry.kind === 'event' && from > 0 ? `_${entry.at.getTime().toString(36)}` : ''}`,
      'S9',
      () => `${name} names an event ${entry.eventId}`,
    )
    history.note(after, entry)
  }
  const events = fresh.filter(({ kind }) => kind === 'event')
  checkStatusEvents(name, before, after, events)
  checkPaymentEvents(name, before, after, events)
  checkOrder(name, events)
  const [last] = events.filter(({ type }) => type.startsWith('invoice.')).slice(-1)
  must(
    last === undefined || last.snapshot.status === after.status,
    'S9',
    () => `${name} tells of ${last?.snapshot.status}, but is ${after.status}`,
  )
}

const FOLDED_BACK = 'invoice.pending invoice.cancelled'
const FOLDED_AND_OVER = 'invoice.expired invoice.cancelled'

function checkStatusEvents(
  name: string,
  before: InvoiceDocument | null,
  after: InvoiceDocument,
  events: readonly OutboxDocument[],
): void {
  const published = events
    .map(({ type }) => String(type))
    .filter((type) => type.startsWith('invoice.') && type !== 'invoice.late_payment')
  if (before === null) {
    const expected = after.status === 'new' ? 'invoice.created' : 'invoice.created invoice.pending'
    must(published.join(' ') === expected, 'S9', () => `${name} begins with ${published.join(' ')}`)
    return
  }
  const entered = `invoice.${after.status}`
  const times = published.filter((type) => type === entered).length
  // Simulated money is shown step by step in one change, and so is what was folded in just before an operator's word.
  const steps = published.filter((type) => type !== entered)
  const known = new Map(before.ledger.map((row) => [row.payment, row]))
  const inSteps = after.ledger.some((row) =>
    row.simulated ? !known.has(row.payment) : row.acceptedBase !== (known.get(row.payment)?.acceptedBase ?? null),
  )
  // A cancellation folds in first what happened to the money: that is a separate change with its own event.
  const told = published.join(' ')
  const isFold = told === FOLDED_BACK || (told === FOLDED_AND_OVER && after.updatedAt >= after.expiresAt)
  const foldedBack = after.status === 'cancelled' && before.status !== 'pending' && isFold
  must(
    steps.length === 0 ||
      foldedBack ||
      (inSteps && steps.every((type) => type === 'invoice.confirming' || type === 'invoice.partial')),
    'S9',
    () => `${name} went from ${before.status} to ${after.status} and told ${published.join(' ')}`,
  )
  if (before.status !== after.status) {
    must(
      times === 1,
      'S9',
      () => `${name} went from ${before.status} to ${after.status} and told ${published.join(' ') || 'nobody'}`,
    )
    return
  }
  const quoted = quotesOf(after) > quotesOf(before)
  const grown = after.status === 'partial' && BigInt(after.partialAnnouncedBase) > BigInt(before.partialAnnouncedBase)
  const expected = quoted || grown ? 1 : 0
  must(
    times === expected,
    'S9',
    () => `${name} stayed ${after.status} and told it ${times} times instead of ${expected}`,
  )
}

const quotesOf = (invoice: InvoiceDocument): number =>
  invoice.paymentMethods.reduce((sum, { quotes }) => sum + quotes.length, 0)

function checkPaymentEvents(
  name: string,
  before: InvoiceDocument | null,
  after: InvoiceDocument,
  events: readonly OutboxDocument[],
): void {
  const known = new Map(before?.ledger.map((row) => [row.payment, row]))
  const published = (type: string, payment: string): number =>
    events.filter((entry) => entry.type === type && entry.paymentKey === payment).length
  for (const row of after.ledger) {
    const was = known.get(row.payment)
    const silent = row.acceptedBase !== null
    // Folded in and accepted in one change: told or not, as it was new or known.
    if (silent && (was?.acceptedBase ?? null) === null) continue
    const counts = row.counted && isLive(row) && !silent
    const detected = published('payment.detected', row.payment)
    const confirmed = published('payment.confirmed', row.payment)
    const isNew = counts && was?.detected !== true
    must(detected === (isNew ? 1 : 0), 'S9', () => `${name}: ${row.payment} was announced ${detected} times`)
    const isConfirmed = counts && row.state === 'confirmed' && was?.confirmed !== true
    must(
      confirmed === (isConfirmed ? 1 : 0),
      'S9',
      () => `${name}: ${row.payment} was announced as confirmed ${confirmed} times`,
    )
  }
}

function checkOrder(name: string, events: readonly OutboxDocument[]): void {
  const types = events.map(({ type }) => String(type))
  const first = (...wanted: readonly string[]): number => types.findIndex((type) => wanted.includes(type))
  const settled = first('invoice.paid', 'invoice.overpaid')
  const confirmed = types.lastIndexOf('payment.confirmed')
  must(settled < 0 || confirmed < settled, 'S9', () => `${name} tells in the order ${types.join(' ')}`)
  const waiting = first('invoice.partial', 'invoice.confirming')
  const detected = first('payment.detected')
  must(waiting < 0 || detected < 0 || detected < waiting, 'S9', () => `${name} tells in the order ${types.join(' ')}`)
}
