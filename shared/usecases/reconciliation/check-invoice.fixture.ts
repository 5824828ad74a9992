import { eventId } from '#shared/domain/ids.ts'
import type { Effect, InvoiceEvent, PaymentObservation } from '#shared/domain/invoice/invoice-event.ts'
import type { InvoiceState, LedgerRow, PaymentMethod } from '#shared/domain/invoice/model.ts'
import { openInvoice } from '#shared/domain/invoice/open-invoice.ts'
import { transition } from '#shared/domain/invoice/transition.ts'
import { aPayment, aPaymentMethod, DEADLINE, DUE, T0 } from '#shared/domain/invoice/transition-story.fixture.ts'
import type { Invoice, OutboxEntry } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { ChainHeight, InvoiceRecords, PublishedEvent } from '#shared/ports/reconciliation.ts'
import { checkRecords } from './reconcile.ts'

export const ID = '01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e40'
export const HEAD: ChainHeight = { mode: 'test', network: 'ethereum', height: 102, headHeight: 102 }
export const EMPTY: Pick<InvoiceRecords, 'keySharedWith' | 'eventsComplete' | 'seqsElsewhere'> = {
  keySharedWith: [],
  eventsComplete: true,
  seqsElsewhere: [],
}

/** A payment in block 100, stored by its scanner and marked by the fold. */
export function stored(seen: PaymentObservation, row: LedgerRow | undefined): Payment {
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
      bookedAt: [T0],
    },
    ...{ firstSeenAt: seen.firstSeenAt, version: seen.version, dirtyAt: null, scanEpoch: 1, late: false, opId: null },
    ...{ counted: row?.counted === true && row.eligible, uncountedReason: null, createdAt: T0, updatedAt: T0 },
  }
}

export type Step = readonly [InvoiceEvent['type'] | 'accepted' | 'counted', readonly PaymentObservation[], number?]

/** The records of an invoice over `DUE` after these steps, everything relayed. */
export const recordsAfter = (...steps: readonly Step[]): InvoiceRecords => recordsOf(aPaymentMethod(), steps)

export function recordsOf(paymentMethod: PaymentMethod, steps: readonly Step[]): InvoiceRecords {
  const opened = openInvoice({ mode: 'test', createdAt: T0, expiresAt: DEADLINE, endsWithQuote: false, paymentMethod })
  let state: InvoiceState = opened.state
  const effects: Effect[] = [...opened.effects]
  const known = new Map<string, PaymentObservation>()
  for (const [type, seen, at = state.updatedAt + 1] of steps) {
    for (const one of seen) known.set(one.payment, one)
    const byHand = {
      accepted: { type: 'funds_accepted', payments: [] },
      counted: { type: 'payment_counted', payment: 'd1' },
    }
    const event = (type === 'accepted' || type === 'counted' ? byHand[type] : { type }) as InvoiceEvent
    const result = transition(state, { observations: [...known.values()], event, at })
    if (result.outcome !== 'changed') throw new Error(`${type} changed nothing`)
    state = result.state
    effects.push(...result.effects)
  }
  const events = effects.flatMap((effect, index): readonly PublishedEvent[] => {
    const seq = index + 1
    if (effect.kind !== 'event') return []
    // Those after the creation name their time.
    return [
      {
        id: eventId(ID, seq, seq === 1 ? null : T0 + seq),
        seq,
        type: effect.type,
        workspaceId: 'shop',
        mode: 'test',
      },
    ]
  })
  const rows = new Map(state.ledger.map((row) => [row.payment, row]))
  const terms = { id: ID, workspaceId: 'shop', mode: 'test' } as Invoice['terms']
  return {
    ...EMPTY,
    invoice: { terms, state, lastOps: [], outbox: [], refundSeq: 0 },
    payments: [...known.values()].map((seen) => stored(seen, rows.get(seen.payment))),
    events,
    inboxEntries: effects.filter(({ kind }) => kind === 'exception').length,
  }
}

export const confirmed = (change: Partial<PaymentObservation> = {}) => aPayment({ state: 'confirmed', ...change })
export const gone = confirmed({ version: 2, state: 'orphaned' })
export const dust = (payment: string, change: Partial<PaymentObservation> = {}) =>
  aPayment({ payment, amountBase: 9n, ...change })
export const paid = () =>
  recordsAfter(['payments_changed', [aPayment()]], ['payments_changed', [confirmed({ version: 2 })]])
export const partial = () =>
  recordsAfter(['payments_changed', [aPayment({ amountBase: DUE / 2n }), dust('d1'), dust('d2')]])
/** Two payments more than the ledger has rows for. */
export const crowded = () =>
  recordsAfter([
    'payments_changed',
    Array.from({ length: 102 }, (_, index) => confirmed({ payment: `m${index}`, amountBase: 2_000n })),
  ])
export const completed = () =>
  recordsAfter(['payments_changed', [confirmed({ amountBase: DUE - 9n }), dust('q', { state: 'confirmed' })]])

/** Completed by dust, with the same transfer a second time in ledger and payments. */
export function twoRests(): InvoiceRecords {
  const lax = aPaymentMethod({ policy: { ...aPaymentMethod().policy, sendableBase: 100n } })
  const seen = [confirmed({ amountBase: DUE - 9n }), dust('q', { state: 'confirmed' })]
  const records = recordsOf(lax, [['payments_changed', seen]])
  const rows = records.invoice.state.ledger.map((row) =>
    row.payment === 'q' ? { ...row, payment: 'r', detected: false, confirmed: false } : row,
  )
  const row = rows.find(({ payment }) => payment === 'r') ?? raise()
  const payments = [...records.payments, stored(dust('r', { state: 'confirmed' }), row)]
  return { ...withState(records, { ledger: [...records.invoice.state.ledger, row] }), payments }
}

export const withState = (records: InvoiceRecords, change: Partial<InvoiceState>): InvoiceRecords => ({
  ...records,
  invoice: { ...records.invoice, state: { ...records.invoice.state, ...change } },
})
export const withRow = (records: InvoiceRecords, change: Partial<LedgerRow>): InvoiceRecords =>
  withState(records, {
    ledger: records.invoice.state.ledger.map((row, index) => (index === 0 ? { ...row, ...change } : row)),
  })
export const withPayment = (records: InvoiceRecords, change: Partial<Payment>): InvoiceRecords => ({
  ...records,
  payments: records.payments.map((payment, index) => (index === 0 ? { ...payment, ...change } : payment)),
})
export const waiting = (seq: number): OutboxEntry =>
  ({ eventId: eventId(ID, seq), seq, kind: 'event', type: 'invoice.paid' }) as OutboxEntry

export const found = (records: InvoiceRecords, heads: readonly ChainHeight[] = [HEAD]): readonly string[] => [
  ...new Set(checkRecords(records, heads).map(({ invariant }) => invariant)),
]

/** For values that cannot be missing. */
export function raise(): never {
  throw new Error('the sample has dust')
}
