import { eventId } from '#shared/domain/ids.ts'
import { smallRest } from '#shared/domain/invoice/fold.ts'
import { foldKey } from '#shared/domain/invoice/fold-reading.ts'
import type { Effect, InvoiceEvent, PaymentObservation, Refusal } from '#shared/domain/invoice/invoice-event.ts'
import type { InvoiceState } from '#shared/domain/invoice/model.ts'
import { isSettled } from '#shared/domain/invoice/totals.ts'
import { StaleObservations, transition } from '#shared/domain/invoice/transition.ts'
import { isRefundUncovered } from '#shared/domain/payment/refundable.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import { type Invoice, ledgerKeys, type OutboxEntry, type OutboxNotice, outboxJobId } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { Refund } from '#shared/ports/refunds.ts'
import { QUEUES, type Runtime } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import {
  type AppliedPayment,
  appliedPayments,
  chainKnownUntil,
  needsMark,
  type ObserveDeps,
  observePayments,
  withMarket,
} from './fold-payments.ts'
import { presentPayment, snapshotInvoice } from './present-invoice.ts'

/** Version conflicts in a row before giving up; each conflict means that another caller made progress. */
const ATTEMPTS_MAX = 60
/** Above this, deadlines and scanners wait for the relay, so that an outbox never outgrows its document. */
const OUTBOX_SOFT_LIMIT = 400
/** Nothing at all is added beyond this many unrelayed entries. */
const OUTBOX_HARD_LIMIT = 500

/** Dependencies of every invoice change. */
export type ApplyDeps = ObserveDeps &
  Runtime &
  Uses<'invoices' | 'payments' | 'refunds' | 'cursors' | 'catalog' | 'notifier'>

/** One event of one invoice. */
export interface ApplyInput {
  readonly invoiceId: string
  readonly event: InvoiceEvent
  /** Id of the caller's operation, so that a retry after a lost response finds it done; null for workers. */
  readonly opId: string | null
  /** The version that the caller looked at, for instance at the positions of its chains: nothing is decided about another one. */
  readonly checkedVersion?: number
  /** Decide without saving, as if these payments belonged to the invoice as well; `changed` then contains the resulting invoice. */
  readonly preview?: { readonly payments: readonly Payment[] }
  /**
   * Receives the invoice as the change leaves it, whenever something would change: also in a preview, and again after a version conflict.
   * An error it throws prevents the change. Its mails to owners are stored with the first audit entry of the change.
   */
  readonly weigh?: WeighChange
}

/** Throws when this change is not allowed; otherwise returns the mails to store with it, or null. */
export type WeighChange = (after: Invoice) => Promise<OutboxNotice | null>

/** The outcome. `invoice` is the current state; on `refused` nothing was saved. */
export type ApplyResult =
  | {
      readonly outcome: 'changed' | 'unchanged'
      readonly invoice: Invoice
      /** Payments were left to the next fold. */
      readonly hasMore?: boolean
    }
  | { readonly outcome: 'refused'; readonly invoice: Invoice; readonly reason: Refusal }
  | { readonly outcome: 'missing'; readonly invoice: null }

/** The invoice cannot take more events until the relay has caught up; the sweep retries worker jobs. */
export class OutboxFull extends Error {
  override readonly name = 'OutboxFull'
}

/**
 * The only writer of an invoice's state. Folds in the stored payments, decides, and saves state and outbox in one
 * compare-and-set; after a version conflict it reads and decides again, so any number of concurrent callers count each payment once.
 * Returns the current state for an `opId` that was applied before. Safe to repeat after a crash at any line.
 * Throws `ClaimTaken` when another invoice holds the claim of a new quote and `OutboxFull` when the relay lags behind.
 */
export async function applyInvoiceEvent(deps: ApplyDeps, input: ApplyInput): Promise<ApplyResult> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const result = await attemptOnce(deps, input)
    if (result !== 'lost') return result
    deps.metrics.count('invoice_version_conflicts_total', { event: input.event.type })
  }
  throw new Error(`invoice ${input.invoiceId} could not be saved in ${ATTEMPTS_MAX} attempts`)
}

async function attemptOnce(deps: ApplyDeps, input: ApplyInput): Promise<ApplyResult | 'lost'> {
  const invoice = await deps.invoices.findById(input.invoiceId)
  if (invoice === null) return { outcome: 'missing', invoice: null }
  if (input.opId !== null && invoice.lastOps.some((op) => op.opId === input.opId)) {
    return { outcome: 'unchanged', invoice }
  }
  if (invoice.state.version !== (input.checkedVersion ?? invoice.state.version))
    return { outcome: 'unchanged', invoice }
  refuseWhenFull(deps, invoice, input)
  // The invoice is read before its payments: a snapshot of payments may be newer than the ledger, never older.
  const read = await readForFold(deps, invoice, input)
  const { observations, payments, refunds } = read
  // Of payments that were not read one may be in time.
  if (read.hasMore && input.event.type === 'deadline_reached') return { outcome: 'unchanged', invoice }
  const at = deps.clock.now()
  const knownUntil = await chainKnownUntil(deps, invoice, payments, at)
  let decision: ReturnType<typeof transition>
  try {
    decision = transition(invoice.state, { observations, event: input.event, at, knownUntil, refunds })
  } catch (error) {
    if (error instanceof StaleObservations) return 'lost'
    throw error
  }
  if (decision.outcome === 'refused') return { outcome: 'refused', invoice, reason: decision.reason }
  const isPreview = input.preview !== undefined
  if (decision.outcome === 'unchanged') {
    if (!isPreview) {
      await markPayments(deps, invoice, payments, appliedPayments(invoice.state, payments, foldKey(invoice.state)))
    }
    return { outcome: 'unchanged', invoice, hasMore: read.hasMore }
  }
  const after = { ...invoice, state: decision.state }
  // Computed for this exact state: the compare-and-set saves this state or nothing.
  const notice = (await input.weigh?.(after)) ?? null
  return isPreview ? { outcome: 'changed', invoice: after } : save(deps, input, { invoice, payments, decision, notice })
}

interface Reading {
  readonly payments: readonly Payment[]
  readonly observations: readonly PaymentObservation[]
  readonly refunds: readonly Refund[]
  readonly hasMore: boolean
}

/**
 * The payments that this change needs, whose number no stranger chooses: those of the ledger and the sums, what is new, and dust only where it may
 * close the rest. All of them for a person's decision about money, until the invoice is paid once there are refunds, where those are not covered by
 * what was read, and where the sums may lack what was left out.
 */
async function readForFold(deps: ApplyDeps, invoice: Invoice, input: ApplyInput): Promise<Reading> {
  const { state } = invoice
  const { event, preview, invoiceId } = input
  const key = foldKey(state)
  const accepted = acceptedKeys(event)
  const { payments: stored, hasMore } = await deps.payments.listForFold(invoiceId, key, {
    keys: [...ledgerKeys(invoice), ...accepted],
    isFinal: event.type === 'deadline_reached',
  })
  // Read after the invoice: its save fails when another refund was opened or withdrawn since.
  const refunds = invoice.refundSeq === 0 ? [] : await deps.refunds.listByInvoice(invoiceId)
  // A payment that was attached to the invoice in the meantime appears once, as stored.
  const withPreview = (found: readonly Payment[]): readonly Payment[] => {
    const known = new Set(found.map((payment) => payment.key))
    return [...found, ...(preview?.payments ?? []).filter((payment) => !known.has(payment.key))]
  }
  const observe = (payments: readonly Payment[]) => observePayments(deps, invoice, payments, accepted)
  const isDecision = event.type === 'funds_accepted' || event.type === 'payment_counted'
  const isRest = (hasMore && state.others !== null) || isDecision
  // What refunds leave of the price depends on all the money that pays nothing.
  const isClaimed = !isSettled(state) && refunds.some(({ status }) => status !== 'withdrawn')
  if (isRest || isClaimed || isRefundUncovered(stored, refunds)) {
    const payments = withPreview(await deps.payments.listByInvoice(invoiceId))
    return { payments, observations: await observe(payments), refunds, hasMore: false }
  }
  const read = withPreview(stored)
  const observations = await observe(read)
  const rest = smallRest(state, observations, deps.clock.now())
  const dust = rest === null ? [] : await deps.payments.listDustFor(invoiceId, key, rest)
  if (dust.length === 0) return { payments: read, observations, refunds, hasMore }
  const payments = withPreview([...new Map([...dust, ...stored].map((payment) => [payment.key, payment])).values()])
  return { payments, observations: await observe(payments), refunds, hasMore }
}

const acceptedKeys = (event: InvoiceEvent): ReadonlySet<string> =>
  new Set(event.type === 'funds_accepted' ? event.payments.map(({ payment }) => payment) : [])

async function save(
  deps: ApplyDeps,
  input: ApplyInput,
  change: {
    readonly invoice: Invoice
    readonly payments: readonly Payment[]
    readonly decision: { readonly state: InvoiceState; readonly effects: readonly Effect[] }
    readonly notice: OutboxNotice | null
  },
): Promise<ApplyResult | 'lost'> {
  const { invoice, payments, notice } = change
  const { state, effects } = change.decision
  const applied = appliedPayments(state, payments, foldKey(invoice.state))
  const presented = await presentAnnounced(deps, payments, applied, effects)
  const append = withNotice(
    outboxEntries({ id: input.invoiceId, catalog: deps.catalog }, state, effects, presented),
    notice,
  )
  const op = input.opId === null ? null : { opId: input.opId, seq: state.eventSeq }
  const expected = { expectedVersion: invoice.state.version, expectedRefundSeq: invoice.refundSeq }
  // Of payments that were applied before, nothing else would show that their marks are still to be written.
  const unmarked = marksDue(payments, applied).filter(({ payment }) => payment.dirtyAt === null)
  if (unmarked.length > 0)
    await deps.payments.markDirty(
      unmarked.map(({ payment }) => payment.key),
      deps.clock.now(),
    )
  if (!(await deps.invoices.save({ id: input.invoiceId, ...expected, state, append, op }))) return 'lost'
  if (append.length > 0) deps.notifier.notify(QUEUES.outbox, outboxJobId(input.invoiceId))
  // What counts for nothing under one key may count under the next one.
  if (foldKey(state) !== foldKey(invoice.state)) deps.notifier.notify(QUEUES.invoiceTransitions, input.invoiceId)
  reportTransition(deps, input, invoice.state.status, state.status)
  await markPayments(deps, { ...invoice, state }, payments, applied)
  const lastOps = op === null ? invoice.lastOps : [...invoice.lastOps, op].slice(-8)
  return { outcome: 'changed', invoice: { ...invoice, state, lastOps, outbox: [...invoice.outbox, ...append] } }
}

function withNotice(entries: readonly OutboxEntry[], notice: OutboxNotice | null): readonly OutboxEntry[] {
  const first = entries.findIndex(({ kind }) => kind === 'audit')
  return notice === null ? entries : entries.map((entry, index) => (index === first ? { ...entry, notice } : entry))
}

function reportTransition(deps: ApplyDeps, { invoiceId, event }: ApplyInput, from: string, to: string): void {
  if (from === to) return
  deps.metrics.count('invoice_transitions_total', { from, to })
  deps.logger.info({ invoiceId, from, to, event: event.type }, 'invoice changed its status')
}

function refuseWhenFull(deps: ApplyDeps, invoice: Invoice, input: ApplyInput): void {
  const fromWorker = input.opId === null
  if (invoice.outbox.length < (fromWorker ? OUTBOX_SOFT_LIMIT : OUTBOX_HARD_LIMIT)) return
  deps.metrics.count('invoice_outbox_full_total', { event: input.event.type })
  deps.notifier.notify(QUEUES.outbox, outboxJobId(input.invoiceId))
  throw new OutboxFull(`invoice ${input.invoiceId} has ${invoice.outbox.length} unrelayed entries`)
}

/** Payments whose marks are not those of the invoice's decision. */
function marksDue(payments: readonly Payment[], applied: readonly AppliedPayment[]) {
  return applied.flatMap((row, index) => {
    const payment = payments[index]
    return payment !== undefined && needsMark(payment, row) ? [{ payment, applied: row }] : []
  })
}

async function markPayments(
  deps: ApplyDeps,
  invoice: Invoice,
  payments: readonly Payment[],
  applied: readonly AppliedPayment[],
): Promise<void> {
  const rows = marksDue(payments, applied)
  if (rows.length > 0) await deps.payments.markApplied(await withMarket(deps, invoice, rows))
}

/** Public records of the payments that this change announces, including the result of this change. */
async function presentAnnounced(
  deps: ApplyDeps,
  payments: readonly Payment[],
  applied: readonly AppliedPayment[],
  effects: readonly Effect[],
): Promise<PresentedPayments> {
  const announced = new Set(effects.filter(isPaymentEvent).map((effect) => effect.payment))
  const presented = new Map<string, Readonly<Record<string, unknown>>>()
  for (const [index, payment] of payments.entries()) {
    const row = applied[index]
    if (row === undefined || payment.asset === null || !announced.has(payment.key)) continue
    const { counted, uncountedReason, late } = row
    presented.set(
      payment.key,
      presentPayment(
        { ...payment, counted, uncountedReason, late },
        {
          asset: deps.catalog.asset(payment.asset),
          explorerUrl: explorerUrl(deps, payment),
          confirmations: await confirmations(deps, payment),
        },
      ),
    )
  }
  return presented
}

function explorerUrl(deps: ApplyDeps, payment: Payment): string | null {
  if (payment.txHash === null) return null
  return deps.catalog.explorerTxUrl(payment.network, payment.mode, payment.txHash)
}

/** Counted from the committed cursor, never from a node's head; a confirmed payment shows at least the required number. */
async function confirmations(deps: ApplyDeps, payment: Payment): Promise<number> {
  if (payment.block === null) return 0
  const cursor = await deps.cursors.find(payment.mode, payment.network)
  const counted = cursor === null ? 1 : Math.max(1, cursor.height - payment.block.height + 1)
  return payment.state === 'confirmed' ? Math.max(counted, payment.requiredConfirmations) : counted
}

/** Public payment records by transfer key, after the change that the entries announce. */
type PresentedPayments = ReadonlyMap<string, Readonly<Record<string, unknown>>>

/**
 * Turns the effects of one decision into outbox entries, in their order. The last entry carries `state.eventSeq`. Every payment event needs its
 * record in `payments`.
 */
export function outboxEntries(
  { id, catalog }: { readonly id: string; readonly catalog: Pick<Catalog, 'paymentUri'> },
  state: InvoiceState,
  effects: readonly Effect[],
  payments: PresentedPayments = new Map(),
): readonly OutboxEntry[] {
  if (effects.length === 0) return []
  const snapshot = snapshotInvoice(catalog, state)
  const before = state.eventSeq - effects.length
  return effects.map((effect, index) => {
    const seq = before + index + 1
    return {
      // Nobody else makes this invoice; but a store that was put back may make another change of it under this number.
      eventId: eventId(id, seq, effect.kind === 'event' && before > 0 ? state.updatedAt : null),
      seq,
      kind: effect.kind,
      type: typeOf(effect),
      at: state.updatedAt,
      snapshot,
      payment: isPaymentEvent(effect) ? recordOf(payments, effect.payment) : null,
      paymentKey: effect.payment,
      ...(effect.kind === 'audit' && { actor: effect.by }),
      ...(effect.kind === 'audit' && effect.reason !== undefined && { reason: effect.reason }),
    }
  })
}

/** True for `payment.detected` and `payment.confirmed`, the events that carry `data.payment`. */
function isPaymentEvent(effect: Effect): boolean {
  return effect.kind === 'event' && effect.type.startsWith('payment.')
}

function typeOf(effect: Effect): OutboxEntry['type'] {
  if (effect.kind === 'event') return effect.type
  if (effect.kind === 'audit') return effect.action
  return effect.kind === 'mail' ? effect.template : effect.exception
}

function recordOf(payments: PresentedPayments, key: string | null): Readonly<Record<string, unknown>> {
  const record = key === null ? undefined : payments.get(key)
  if (record === undefined) throw new Error(`payment event without its payment ${key ?? ''}`)
  return record
}
