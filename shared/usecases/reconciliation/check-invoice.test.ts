import { describe, expect, it } from 'vitest'
import { eventId } from '#shared/domain/ids.ts'
import type {
  AssetLock,
  Effect,
  InvoiceEvent,
  InvoiceState,
  LedgerRow,
  PaymentObservation,
} from '#shared/domain/invoice/model.ts'
import { openInvoice } from '#shared/domain/invoice/open-invoice.ts'
import { transition } from '#shared/domain/invoice/transition.ts'
import { aLock, anOldLock, aPayment, DEADLINE, DUE, MINUTE, T0 } from '#shared/domain/invoice/transition-fixtures.ts'
import type { Invoice, OutboxEntry } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { Books, ChainHeight, ToldEvent } from '#shared/ports/reconciliation.ts'
import { judgeBooks } from './check-invoice.ts'

const ID = '01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e40'
const HEAD: ChainHeight = { mode: 'test', network: 'ethereum', height: 102, headHeight: 102 }
const EMPTY: Pick<Books, 'keySharedWith' | 'eventsComplete' | 'seqsElsewhere'> = {
  keySharedWith: [],
  eventsComplete: true,
  seqsElsewhere: [],
}

/** A payment in block 100 as its scanner stored it and the fold marked it. */
function stored(seen: PaymentObservation, row: LedgerRow | undefined): Payment {
  const block = { height: 100, hash: 'h100', time: seen.firstSeenAt }
  return {
    ...{ id: seen.payment, key: seen.payment, mode: 'test', network: seen.network, asset: seen.asset, invoiceId: ID },
    ...{
      workspaceId: 'shop',
      matchKey: seen.matchKey,
      toAddress: '0xA1',
      fromAddress: null,
      amountBase: seen.amountBase,
    },
    ...{ txHash: `0x${seen.payment}`, outputIndex: 0, contract: '0xtoken', kind: 'onchain', state: seen.state, block },
    ...{
      requiredConfirmations: 3,
      confirmAt: 102,
      needsFinality: false,
      spends: [],
      replacedBy: null,
      confirmedAt: T0,
    },
    ...{ firstSeenAt: seen.firstSeenAt, version: seen.version, dirtyAt: null, scanEpoch: 1, late: false, opId: null },
    ...{ counted: row?.counted === true && row.eligible, uncountedReason: null, createdAt: T0, updatedAt: T0 },
  }
}

type Step = readonly [InvoiceEvent['type'] | 'accepted', readonly PaymentObservation[], number?]

/** The books of an invoice over `DUE` to which this happened, everything relayed. */
const booksAfter = (...steps: readonly Step[]): Books => booksOf(aLock(), steps)

/** The same of an invoice whose lock is older than the rule about dust. */
const oldBooksAfter = (...steps: readonly Step[]): Books => booksOf(anOldLock(), steps)

function booksOf(lock: AssetLock, steps: readonly Step[]): Books {
  const opened = openInvoice({ mode: 'test', createdAt: T0, expiresAt: DEADLINE, endsWithQuote: false, lock })
  let state: InvoiceState = opened.state
  const effects: Effect[] = [...opened.effects]
  const known = new Map<string, PaymentObservation>()
  for (const [type, seen, at = state.updatedAt + 1] of steps) {
    for (const one of seen) known.set(one.payment, one)
    const event = (type === 'accepted' ? { type: 'funds_accepted', payments: [] } : { type }) as InvoiceEvent
    const result = transition(state, { observations: [...known.values()], event, at })
    if (result.outcome !== 'changed') throw new Error(`${type} changed nothing`)
    state = result.state
    effects.push(...result.effects)
  }
  const events = effects.flatMap((effect, index): readonly ToldEvent[] => {
    const seq = index + 1
    if (effect.kind !== 'event') return []
    return [{ id: eventId(ID, seq), seq, type: effect.type, workspaceId: 'shop', mode: 'test' }]
  })
  const rows = new Map(state.ledger.map((row) => [row.payment, row]))
  const terms = { id: ID, workspaceId: 'shop', mode: 'test' } as Invoice['terms']
  return {
    ...EMPTY,
    invoice: { terms, state, lastOps: [], outbox: [] },
    payments: [...known.values()].map((seen) => stored(seen, rows.get(seen.payment))),
    events,
    inboxEntries: effects.filter(({ kind }) => kind === 'exception').length,
  }
}

const confirmed = (change: Partial<PaymentObservation> = {}) => aPayment({ state: 'confirmed', ...change })
const gone = confirmed({ version: 2, state: 'orphaned' })
const dust = (payment: string, change: Partial<PaymentObservation> = {}) =>
  aPayment({ payment, amountBase: 9n, ...change })
const paid = () => booksAfter(['payments_changed', [aPayment()]], ['payments_changed', [confirmed({ version: 2 })]])
const halfAndDust = ['payments_changed', [aPayment({ amountBase: DUE / 2n }), dust('d1'), dust('d2')]] as const
const partial = () => booksAfter(halfAndDust)
const oldPartial = () => oldBooksAfter(halfAndDust)
const completed = () =>
  booksAfter(['payments_changed', [confirmed({ amountBase: DUE - 9n }), dust('q', { state: 'confirmed' })]])

/** Completed by dust, with the same transfer once more in ledger and payments. */
function twoRests(): Books {
  const lax = aLock({ policy: { ...aLock().policy, overToleranceBase: 100n } })
  const seen = [confirmed({ amountBase: DUE - 9n }), dust('q', { state: 'confirmed' })]
  const books = booksOf(lax, [['payments_changed', seen]])
  const rows = books.invoice.state.ledger.map((row) =>
    row.payment === 'q' ? { ...row, payment: 'r', detected: false, confirmed: false } : row,
  )
  const row = rows.find(({ payment }) => payment === 'r') ?? raise()
  const payments = [...books.payments, stored(dust('r', { state: 'confirmed' }), row)]
  return { ...withState(books, { ledger: [...books.invoice.state.ledger, row] }), payments }
}

const withState = (books: Books, change: Partial<InvoiceState>): Books => ({
  ...books,
  invoice: { ...books.invoice, state: { ...books.invoice.state, ...change } },
})
const withRow = (books: Books, change: Partial<LedgerRow>): Books =>
  withState(books, {
    ledger: books.invoice.state.ledger.map((row, index) => (index === 0 ? { ...row, ...change } : row)),
  })
const withPayment = (books: Books, change: Partial<Payment>): Books => ({
  ...books,
  payments: books.payments.map((payment, index) => (index === 0 ? { ...payment, ...change } : payment)),
})
const waiting = (seq: number): OutboxEntry =>
  ({ eventId: eventId(ID, seq), seq, kind: 'event', type: 'invoice.paid' }) as OutboxEntry

const found = (books: Books, heads: readonly ChainHeight[] = [HEAD]): readonly string[] => [
  ...new Set(judgeBooks(books, heads).map(({ invariant }) => invariant)),
]

describe('right books', () => {
  const late = aPayment({ firstSeenAt: DEADLINE + MINUTE, rateSeen: '1.00' })
  it.each<readonly [string, Books]>([
    ['pending', booksAfter()],
    ['partial with dust', partial()],
    ['partial with dust that counts by an older rule', oldPartial()],
    ['completed by dust', completed()],
    ['confirming', booksAfter(['payments_changed', [aPayment()]])],
    ['paid', paid()],
    ['overpaid', booksAfter(['payments_changed', [confirmed({ amountBase: DUE + 1n })]])],
    ['expired', booksAfter(['deadline_reached', [], DEADLINE])],
    ['expired, then late money', booksAfter(['deadline_reached', [], DEADLINE], ['payments_changed', [late]])],
    ['cancelled', booksAfter(['cancel_requested', []])],
    ['cancelled, then money', booksAfter(['cancel_requested', []], ['payments_changed', [confirmed()]])],
    ['stepped back', booksAfter(['payments_changed', [aPayment()]], ['payments_changed', [{ ...gone, version: 2 }]])],
    ['paid, then reorganised', booksAfter(['payments_changed', [confirmed()]], ['payments_changed', [gone]])],
    [
      'paid with dust by an older rule, which vanished',
      oldBooksAfter(
        ['payments_changed', [confirmed({ amountBase: DUE - 9n }), dust('d', { state: 'confirmed' })]],
        ['payments_changed', [dust('d', { state: 'orphaned', version: 2 })]],
      ),
    ],
    [
      'accepted below what was due',
      booksAfter(
        ['payments_changed', [confirmed({ amountBase: DUE / 2n })]],
        ['deadline_reached', [], DEADLINE],
        ['accepted', []],
      ),
    ],
  ])('%s: nothing is wrong', (_name, books) => {
    expect(judgeBooks(books, [HEAD])).toEqual([])
  })

  it('a payment that waits to be applied is not wrong', () => {
    expect(found(withPayment(paid(), { version: 3, state: 'orphaned', dirtyAt: T0 }))).toEqual([])
    const another = stored(aPayment({ payment: 'p9' }), undefined)
    expect(found({ ...paid(), payments: [...paid().payments, { ...another, dirtyAt: T0 }] })).toEqual([])
  })

  it('an entry that waits to be relayed is told', () => {
    const { events, invoice, ...books } = paid()
    const { eventSeq } = invoice.state
    expect(
      found({ ...books, events: events.slice(0, -1), invoice: { ...invoice, outbox: [waiting(eventSeq)] } }),
    ).toEqual([])
  })

  it('a cursor that stands back, or none, or one of a chain that began anew, says nothing about depth', () => {
    const behind = { ...HEAD, height: 99 }
    for (const heads of [[behind], [], [{ ...HEAD, height: 5, headHeight: 5 }]])
      expect(found(paid(), heads)).toEqual([])
  })

  it('what was removed at the end of its life, or went to audit trail, mails and inbox, is not missing', () => {
    expect(found({ ...paid(), events: [], eventsComplete: false })).toEqual([])
    const [first, ...others] = paid().events
    expect(found({ ...paid(), events: others, seqsElsewhere: [first?.seq ?? 0] })).toEqual([])
    expect(found({ ...paid(), events: others, inboxEntries: 1 })).toEqual([])
  })
})

// Guards money: each kind of wrong books is seen, and as what it is.
describe('wrong books', () => {
  const { eventSeq, ledger, locks } = paid().invoice.state
  const [row] = ledger
  const twice = stored(confirmed({ payment: 'p2' }), row)
  const dearer = locks.map((lock) => ({
    ...lock,
    quotes: lock.quotes.map((quote) => ({ ...quote, amountBase: DUE * 2n })),
  }))
  const both = booksAfter([
    'payments_changed',
    [confirmed({ amountBase: DUE / 2n }), confirmed({ payment: 'p2', amountBase: DUE / 2n })],
  ])
  const stranger: ToldEvent = {
    id: eventId(ID, eventSeq + 1),
    seq: eventSeq + 1,
    type: 'invoice.paid',
    workspaceId: 'shop',
    mode: 'test',
  }

  it.each<readonly [string, string, Books]>([
    ['one_key', 'another invoice has its key', { ...paid(), keySharedWith: ['other'] }],
    ['credited_once', 'a row stands twice', withState(paid(), { ledger: [...ledger, ...ledger] })],
    ['credited_once', 'a row has no payment', { ...paid(), payments: [] }],
    ['credited_once', 'test money counts as live', withPayment(paid(), { mode: 'live' })],
    [
      'credited_once',
      'one transfer has two keys',
      { ...both, payments: both.payments.map((one) => ({ ...one, txHash: '0xsame' })) },
    ],
    ['sums', 'the payment has another amount', withPayment(paid(), { amountBase: 1n })],
    ['sums', 'the payment has another state', withPayment(paid(), { state: 'orphaned' })],
    ['sums', 'a newer version is applied by nobody', withPayment(paid(), { version: 3 })],
    ['sums', 'the ledger is ahead of the payment', withPayment(paid(), { version: 1 })],
    ['sums', 'the payment says that it does not count', withPayment(paid(), { counted: false })],
    ['sums', 'a payment is nowhere', { ...paid(), payments: [...paid().payments, { ...twice, txHash: '0xother' }] }],
    [
      'sums',
      'dust is summed wrongly',
      withState(oldPartial(), { others: { ...(oldPartial().invoice.state.others ?? raise()), seenBase: 19n } }),
    ],
    [
      'sums',
      'dust is summed at all',
      withState(partial(), { others: { ...(partial().invoice.state.others ?? raise()), seenBase: 18n } }),
    ],
    [
      'sums',
      'dust says that it counts',
      { ...partial(), payments: partial().payments.map((payment) => ({ ...payment, counted: true })) },
    ],
    ['sums', 'dust counts twice', twoRests()],
    ['status', 'its sums ask for another', withRow(withPayment(partial(), { amountBase: DUE }), { amountBase: DUE })],
    ['status', 'its clock stands', withState(partial(), { nextActionAt: null })],
    ['status', 'it has no version', withState(paid(), { version: 0 })],
    ['status', 'it was never paid', withState(paid(), { paidAt: null })],
    ['status', 'it has two open locks', withState(partial(), { locks: [...locks, ...locks] })],
    ['paid_in_full', 'less than due is paid', withState(paid(), { locks: dearer })],
    [
      'paid_in_full',
      'the money left and nobody was told',
      withState(booksAfter(['payments_changed', [confirmed()]], ['payments_changed', [gone]]), { exceptions: [] }),
    ],
    ['paid_in_full', 'the block is too young', withPayment(paid(), { block: { height: 101, hash: 'h', time: T0 } })],
    ['paid_in_full', 'it is confirmed in no block', withPayment(paid(), { block: null })],
    ['paid_in_full', 'fewer confirmations than demanded', withPayment(paid(), { requiredConfirmations: 2 })],
    ['events', 'one is missing', { ...paid(), events: paid().events.slice(1) }],
    ['events', 'one is given twice', { ...paid(), events: [...paid().events, ...paid().events.slice(0, 1)] }],
    ['events', 'one more than was told', { ...paid(), events: [...paid().events, stranger] }],
    [
      'events',
      'the last word is another status',
      {
        ...paid(),
        events: paid().events.map((one, index, all) =>
          index === all.length - 1 ? { ...one, type: 'invoice.expired' } : one,
        ),
      },
    ],
    [
      'events',
      'a detection is told twice',
      {
        ...paid(),
        events: paid().events.map((one) =>
          one.type === 'invoice.confirming' ? { ...one, type: 'payment.detected' } : one,
        ),
      },
    ],
    [
      'events',
      'one belongs to another workspace',
      { ...paid(), events: paid().events.map((one) => ({ ...one, workspaceId: 'other' })) },
    ],
    [
      'events',
      'the outbox has a gap',
      { ...paid(), invoice: { ...paid().invoice, outbox: [waiting(eventSeq - 2), waiting(eventSeq)] } },
    ],
  ])('%s: %s', (invariant, _name, books) => {
    expect(found(books)).toEqual([invariant])
  })

  it('names invoice and payment', () => {
    expect(judgeBooks(withPayment(paid(), { amountBase: 1n }), [HEAD])).toEqual([
      { invariant: 'sums', invoiceId: ID, paymentKey: 'p1', words: `the ledger has ${DUE} base units, the payment 1` },
    ])
  })
})

function raise(): never {
  throw new Error('the sample has dust')
}
