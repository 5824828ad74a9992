import { describe, expect, it } from 'vitest'
import { eventId } from '#shared/domain/ids.ts'
import { aPayment, DEADLINE, DUE, MINUTE, T0 } from '#shared/domain/invoice/transition-story.fixture.ts'
import type { InvoiceRecords, PublishedEvent } from '#shared/ports/reconciliation.ts'
import {
  completed,
  confirmed,
  crowded,
  dust,
  found,
  gone,
  HEAD,
  ID,
  paid,
  partial,
  raise,
  recordsAfter,
  stored,
  twoRests,
  waiting,
  withPayment,
  withRow,
  withState,
} from './check-invoice.fixture.ts'
import { checkRecords } from './reconcile.ts'

describe('right books', () => {
  const late = aPayment({ firstSeenAt: DEADLINE + MINUTE, rateSeen: '1.00' })
  it.each<readonly [string, InvoiceRecords]>([
    ['pending', recordsAfter()],
    ['partial with dust', partial()],
    ['partial with more payments than rows', crowded()],
    ['completed by dust', completed()],
    ['confirming', recordsAfter(['payments_changed', [aPayment()]])],
    ['paid', paid()],
    ['overpaid', recordsAfter(['payments_changed', [confirmed({ amountBase: DUE + 1n })]])],
    ['expired', recordsAfter(['deadline_reached', [], DEADLINE])],
    ['expired, then late money', recordsAfter(['deadline_reached', [], DEADLINE], ['payments_changed', [late]])],
    ['cancelled', recordsAfter(['cancel_requested', []])],
    ['cancelled, then money', recordsAfter(['cancel_requested', []], ['payments_changed', [confirmed()]])],
    ['stepped back', recordsAfter(['payments_changed', [aPayment()]], ['payments_changed', [{ ...gone, version: 2 }]])],
    ['paid, then reorganised', recordsAfter(['payments_changed', [confirmed()]], ['payments_changed', [gone]])],
    [
      'paid, then reorganised into a block that is not deep enough yet',
      recordsAfter(
        ['payments_changed', [confirmed()]],
        ['payments_changed', [gone]],
        ['payments_changed', [aPayment({ version: 3 })]],
      ),
    ],
    ['dust that an operator counted', recordsAfter(['counted', [dust('d1', { state: 'confirmed' })]])],
    [
      'accepted below what was due',
      recordsAfter(
        ['payments_changed', [confirmed({ amountBase: DUE / 2n })]],
        ['deadline_reached', [], DEADLINE],
        ['accepted', []],
      ),
    ],
  ])('%s: nothing is wrong', (_name, records) => {
    expect(checkRecords(records, [HEAD])).toEqual([])
  })

  it('a payment that waits to be applied is not wrong', () => {
    expect(found(withPayment(paid(), { version: 3, state: 'orphaned', dirtyAt: T0 }))).toEqual([])
    const another = stored(aPayment({ payment: 'p9' }), undefined)
    expect(found({ ...paid(), payments: [...paid().payments, { ...another, dirtyAt: T0 }] })).toEqual([])
  })

  it('an entry that waits to be relayed is told', () => {
    const { events, invoice, ...records } = paid()
    const { eventSeq } = invoice.state
    expect(
      found({ ...records, events: events.slice(0, -1), invoice: { ...invoice, outbox: [waiting(eventSeq)] } }),
    ).toEqual([])
  })

  it('a cursor that stands back, or none, or one of a chain that began again, says nothing about depth', () => {
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
  const { eventSeq, ledger, paymentMethods } = paid().invoice.state
  const [row] = ledger
  const twice = stored(confirmed({ payment: 'p2' }), row)
  const dearer = paymentMethods.map((paymentMethod) => ({
    ...paymentMethod,
    quotes: paymentMethod.quotes.map((quote) => ({ ...quote, amountBase: DUE * 2n })),
  }))
  const both = recordsAfter([
    'payments_changed',
    [confirmed({ amountBase: DUE / 2n }), confirmed({ payment: 'p2', amountBase: DUE / 2n })],
  ])
  const stranger: PublishedEvent = {
    id: eventId(ID, eventSeq + 1),
    seq: eventSeq + 1,
    type: 'invoice.paid',
    workspaceId: 'shop',
    mode: 'test',
  }

  it.each<readonly [string, string, InvoiceRecords]>([
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
      'payments without rows are summed wrongly',
      withState(crowded(), { others: { ...(crowded().invoice.state.others ?? raise()), seenBase: 4_001n } }),
    ],
    [
      'sums',
      'dust is summed at all',
      withState(partial(), { others: { ...(crowded().invoice.state.others ?? raise()), count: 2, seenBase: 18n } }),
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
    [
      'status',
      'it has two open locks',
      withState(partial(), { paymentMethods: [...paymentMethods, ...paymentMethods] }),
    ],
    ['paid_in_full', 'less than due is paid', withState(paid(), { paymentMethods: dearer })],
    [
      'paid_in_full',
      'the money left and nobody was told',
      withState(recordsAfter(['payments_changed', [confirmed()]], ['payments_changed', [gone]]), { exceptions: [] }),
    ],
    ['paid_in_full', 'the block is too young', withPayment(paid(), { block: { height: 101, hash: 'h', time: T0 } })],
    ['paid_in_full', 'it is confirmed in no block', withPayment(paid(), { block: null })],
    ['paid_in_full', 'fewer confirmations than demanded', withPayment(paid(), { requiredConfirmations: 2 })],
    ['events', 'one is missing', { ...paid(), events: paid().events.slice(1) }],
    ['events', 'one is given twice', { ...paid(), events: [...paid().events, ...paid().events.slice(0, 1)] }],
    ['events', 'one more than was told', { ...paid(), events: [...paid().events, stranger] }],
    [
      'events',
      'one has the id of another number',
      { ...paid(), events: paid().events.map((one) => (one.seq === 2 ? { ...one, id: eventId(ID, 22, T0) } : one)) },
    ],
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
  ])('%s: %s', (invariant, _name, records) => {
    expect(found(records)).toEqual([invariant])
  })

  it('names invoice and payment', () => {
    expect(checkRecords(withPayment(paid(), { amountBase: 1n }), [HEAD])).toEqual([
      { invariant: 'sums', invoiceId: ID, paymentKey: 'p1', words: `the ledger has ${DUE} base units, the payment 1` },
    ])
  })
})
