import type { ChainStatus } from '#shared/contracts/chain-status.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import {
  activePaymentMethod,
  awaitedNetworks,
  type InvoiceState,
  type Ms,
  type PaymentMethod,
} from '#shared/domain/invoice/model.ts'
import { totals } from '#shared/domain/invoice/totals.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { type Invoice, ledgerKeys } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { position } from '#shared/usecases/networks/chain-status.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { explainPayment, type PaymentExplanation } from './explain-payment.ts'
import { unpaidReason } from './unpaid-reason.ts'

/** Unmatched payments on the invoice's addresses that are shown at most. */
const UNHELD_MAX = 20

/** Dependencies of explaining an invoice; it never writes. */
export type ExplainInvoiceDeps = Uses<
  'clock' | 'invoices' | 'payments' | 'cursors' | 'events' | 'deliveries' | 'exceptions' | 'catalog'
>

/** An asset offered to the payer: its price, and the bounds that were frozen with it. */
export interface QuoteExplanation {
  readonly asset: string
  readonly network: string
  readonly address: string
  readonly active: boolean
  readonly from: string
  readonly to: string | null
  readonly requiredConfirmations: number
  readonly toleranceBase: string
  readonly sendableBase: string
  readonly lateGraceMinutes: number
  readonly lateDriftBps: number
  readonly quotes: readonly {
    readonly amount: string
    readonly fiatPerAsset: string
    readonly from: string
    readonly to: string
  }[]
}

/** One event and its deliveries. */
export interface EventExplanation {
  readonly id: string
  readonly seq: number
  readonly type: string
  readonly at: string
  /** False while it waits in the invoice's outbox. */
  readonly relayed: boolean
  readonly deliveries: readonly {
    readonly id: string
    readonly endpointId: string
    readonly status: string
    readonly attempts: number
    readonly lastStatusCode: number | null
    readonly lastError: string | null
  }[]
}

/** Everything that decides whether an invoice is paid. Times are ISO 8601, amounts base units of the locked asset as text. */
export interface InvoiceExplanation {
  readonly id: string
  readonly workspaceId: string
  readonly mode: string
  readonly number: number
  readonly status: string
  readonly createdAt: string
  readonly expiresAt: string
  readonly paidAt: string | null
  readonly paymentMethods: readonly QuoteExplanation[]
  readonly payments: readonly PaymentExplanation[]
  /** Payments at its addresses that match no invoice. */
  readonly unheldPayments: readonly PaymentExplanation[]
  readonly sums: Readonly<
    Record<'due' | 'needed' | 'received' | 'eligible' | 'confirmed' | 'settled' | 'missing', string>
  > & {
    readonly othersCount: number
  }
  /** The scanner's position on the chain that is furthest behind among those that can still pay it; null without an asset. */
  readonly chain: Omit<ChainStatus, 'facts' | 'row' | 'open' | 'mode'> | null
  /** When the deadline is checked next. */
  readonly deadline: string
  readonly openExceptions: readonly {
    readonly id: string
    readonly kind: string
    readonly detail: string
    readonly openedAt: string
  }[]
  readonly events: readonly EventExplanation[]
  /** The conclusion in one sentence. */
  readonly conclusion: string
}

/** Gathers everything known about an invoice and explains in one sentence why it is not paid. Throws `NOT_FOUND`. */
export async function explainInvoice(deps: ExplainInvoiceDeps, invoiceId: string): Promise<InvoiceExplanation> {
  const invoice = await deps.invoices.findById(invoiceId)
  if (invoice === null) throw new PaymeshError('NOT_FOUND', { message: `Invoice ${invoiceId} not found.` })
  const { terms, state } = invoice
  const matchKeys = [...new Set(state.paymentMethods.map(({ matchKey }) => matchKey))]
  const [stored, unmatchedTransfers, exceptions, events] = await Promise.all([
    deps.payments.listShown(invoiceId, ledgerKeys(invoice)),
    matchKeys.length === 0 ? [] : deps.payments.listUnheld(terms.mode, matchKeys, UNHELD_MAX),
    deps.exceptions.listByInvoice(invoiceId),
    explainEvents(deps, invoice),
  ])
  const cursorOf = createCursorLookup(deps, invoice)
  const payments = await explainAll(deps, stored, state, cursorOf)
  // An address of a pool had other invoices before: payments before this invoice's first quote belong to them.
  const since = Math.min(...state.paymentMethods.map(({ from }) => from))
  const unheld = await explainAll(
    deps,
    unmatchedTransfers.filter(({ firstSeenAt }) => firstSeenAt >= since),
    null,
    cursorOf,
  )
  const chain = await slowestChain(deps, invoice, cursorOf)
  const unexplained =
    exceptions.find(({ kind, closedAt }) => kind === 'unexplained_balance' && closedAt === null)?.detail ?? null
  const scene = {
    state,
    payments,
    unheld,
    unexplained,
    chain,
    unapplied: stored.some(({ dirtyAt }) => dirtyAt !== null),
  }
  return {
    id: terms.id,
    workspaceId: terms.workspaceId,
    mode: terms.mode,
    number: terms.number,
    status: state.status,
    createdAt: iso(state.createdAt),
    expiresAt: iso(state.expiresAt),
    paidAt: state.paidAt === null ? null : iso(state.paidAt),
    paymentMethods: state.paymentMethods.map((one) => explainQuote(one)),
    payments,
    unheldPayments: unheld,
    sums: sumsOf(state),
    chain,
    deadline: deadlineOf(state, chain, terms.mode, deps.clock.now()),
    openExceptions: exceptions
      .filter(({ closedAt }) => closedAt === null)
      .map(({ id, kind, detail, openedAt }) => ({ id, kind, detail, openedAt: iso(openedAt) })),
    events,
    conclusion: unpaidReason(scene),
  }
}

type CursorLookup = (network: Payment['network']) => Promise<ChainCursor | null>

function createCursorLookup({ cursors }: ExplainInvoiceDeps, { terms }: Invoice): CursorLookup {
  const known = new Map<string, Promise<ChainCursor | null>>()
  return (network) => {
    const reading = known.get(network) ?? cursors.find(terms.mode, network)
    known.set(network, reading)
    return reading
  }
}

async function explainAll(
  { catalog }: ExplainInvoiceDeps,
  payments: readonly Payment[],
  invoice: InvoiceState | null,
  cursorOf: CursorLookup,
): Promise<readonly PaymentExplanation[]> {
  return await Promise.all(
    payments.map(async (payment) =>
      explainPayment(payment, { invoice, cursor: await cursorOf(payment.network), catalog }),
    ),
  )
}

/** The chain furthest behind among those that the invoice waits for; null without an asset. A network of test mode without a node is never behind. */
async function slowestChain(
  { catalog, clock }: ExplainInvoiceDeps,
  { terms: { mode }, state }: Invoice,
  cursorOf: CursorLookup,
): Promise<InvoiceExplanation['chain']> {
  const chains = await Promise.all(
    awaitedNetworks(state).map(async (network) => {
      const hasNode = catalog.hasNode(network, mode)
      const scene = { now: clock.now(), hasNode, blockTimeMs: catalog.blockTimeMs(network, mode) }
      return { network, hasNode, ...position(await cursorOf(network), scene) }
    }),
  )
  const readUntil = ({ hasNode, deadlinesUntil }: (typeof chains)[number]) =>
    !hasNode && mode === 'test' ? Number.POSITIVE_INFINITY : (deadlinesUntil ?? Number.NEGATIVE_INFINITY)
  const [first = null] = chains
  return chains.reduce(
    (slowest, one) => (slowest !== null && readUntil(one) < readUntil(slowest) ? one : slowest),
    first,
  )
}

function explainQuote(paymentMethod: PaymentMethod): QuoteExplanation {
  return {
    asset: paymentMethod.asset,
    network: paymentMethod.network,
    address: paymentMethod.address,
    active: paymentMethod.to === null,
    from: iso(paymentMethod.from),
    to: paymentMethod.to === null ? null : iso(paymentMethod.to),
    requiredConfirmations: paymentMethod.requiredConfirmations,
    toleranceBase: paymentMethod.policy.toleranceBase.toString(),
    sendableBase: paymentMethod.policy.sendableBase.toString(),
    lateGraceMinutes: paymentMethod.policy.lateGraceMs / 60_000,
    lateDriftBps: paymentMethod.policy.lateDriftBps,
    quotes: paymentMethod.quotes.map(({ amount, fiatPerAsset, quotedAt, expiresAt }) => ({
      amount,
      fiatPerAsset,
      from: iso(quotedAt),
      to: iso(expiresAt),
    })),
  }
}

function sumsOf(state: InvoiceState): InvoiceExplanation['sums'] {
  const { dueBase, neededBase, receivedBase, seenBase, confirmedBase, settledBase } = totals(state)
  const needed = activePaymentMethod(state) === null ? 0n : neededBase
  return {
    due: dueBase.toString(),
    needed: needed.toString(),
    received: receivedBase.toString(),
    eligible: seenBase.toString(),
    confirmed: confirmedBase.toString(),
    settled: settledBase.toString(),
    missing: (needed > settledBase ? dueBase - settledBase : 0n).toString(),
    othersCount: state.others?.count ?? 0,
  }
}

/** A deadline takes effect once the chain was scanned up to it, because a payment in an unread block may be in time. */
function deadlineOf(state: InvoiceState, chain: InvoiceExplanation['chain'], mode: Mode, now: Ms): string {
  if (state.nextActionAt === null)
    return state.status === 'expired'
      ? 'No further checks: the invoice has expired.'
      : `No further checks in status ${state.status}.`
  const due = iso(state.nextActionAt)
  if (now < state.nextActionAt) return `Next check at ${due}.`
  const isSimulated = chain !== null && !chain.hasNode && mode === 'test'
  if (chain === null || isSimulated) return `The check was due at ${due}. Is the invoices process running?`
  const { network, deadlinesUntil, stuck } = chain
  if (deadlinesUntil !== null && deadlinesUntil >= state.nextActionAt) {
    return `The check was due at ${due}, and the chain is scanned or released up to then. Is the invoices process running?`
  }
  const read = deadlinesUntil === null ? 'nothing' : iso(deadlinesUntil)
  const why = stuck === null ? '' : ` ${NETWORKS[network].name} is stuck: ${stuck.sentence}`
  return `The check was due at ${due}, but the scanner has read ${NETWORKS[network].name} only up to ${read}. It runs once the scanner is past that time.${why}`
}

async function explainEvents(deps: ExplainInvoiceDeps, invoice: Invoice): Promise<readonly EventExplanation[]> {
  const relayed = await deps.events.listByInvoice(invoice.terms.id)
  const known = new Set(relayed.map(({ id }) => id))
  const waiting = invoice.outbox.filter((entry) => entry.kind === 'event' && !known.has(entry.eventId))
  return [
    ...(await Promise.all(
      relayed.map(async ({ id, seq, type, createdAt }) => ({
        id,
        seq,
        type,
        at: iso(createdAt),
        relayed: true,
        deliveries: (
          await deps.deliveries.listByEvent(id)
        ).map((delivery) => ({
          id: delivery.id,
          endpointId: delivery.endpointId,
          status: delivery.status,
          attempts: delivery.attempt,
          lastStatusCode: delivery.lastStatusCode,
          lastError: delivery.lastError,
        })),
      })),
    )),
    ...waiting.map(({ eventId, seq, type, at }) => ({
      id: eventId,
      seq,
      type,
      at: iso(at),
      relayed: false,
      deliveries: [],
    })),
  ]
}

const iso = (at: Ms): string => new Date(at).toISOString()
