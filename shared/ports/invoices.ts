import type { AssetId, EventType, ExceptionKind, InvoiceStatus, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { AuditedAction } from '#shared/domain/invoice/invoice-event.ts'
import type { InvoiceState, InvoiceTerms, Ms, PaymentMethod } from '#shared/domain/invoice/model.ts'
import type { Payment } from './payments.ts'
import type { Refund } from './refunds.ts'

/** The fields of an invoice's public record that can change, frozen at one version. JSON-safe. */
export interface InvoiceSnapshot {
  readonly status: InvoiceStatus
  readonly crypto: {
    readonly asset: AssetId
    readonly network: NetworkId
    readonly symbol: string
    readonly amount: string
    readonly amount_base_units: string
    readonly decimals: number
    readonly address: string
    readonly uri: string
    readonly required_confirmations: number
  } | null
  readonly rate: { readonly fiat_per_asset: string; readonly locked_at: string; readonly expires_at: string } | null
  readonly received: {
    readonly amount: string
    readonly amount_base_units: string
    readonly confirmed_base_units: string
  }
  readonly flags: { readonly paid_late: boolean; readonly underpaid_accepted: boolean }
  readonly expires_at: string
  readonly paid_at: string | null
  readonly updated_at: string
}

/**
 * One effect that the outbox relay must make durable elsewhere. Written in the same
 * compare-and-set as the state it announces; everything in it is JSON-safe.
 */
export interface OutboxEntry {
  /** `evt_…`, of invoice, seq and time; stored with the change, so that a replay yields the same id. */
  readonly eventId: string
  readonly seq: number
  readonly kind: 'event' | 'exception' | 'exception_closed' | 'mail' | 'audit'
  /** Event type, exception kind, mail template or audited action, by `kind`. */
  readonly type: EventType | ExceptionKind | 'payment_reorged' | AuditedAction
  readonly at: Ms
  /** The invoice's mutable fields after the change. */
  readonly snapshot: InvoiceSnapshot
  /** Public payment record (`data.payment`) frozen at this moment; null for invoice events. */
  readonly payment: Readonly<Record<string, unknown>> | null
  /** Transfer key the entry is about, for exceptions, mails and audits. */
  readonly paymentKey: string | null
  /** The actor; audits only. */
  readonly actor?: string
  /** The actor's reason; audits only. */
  readonly reason?: string
  /** Mails to owners that the relay queues with it; audits of large shortfalls only. */
  readonly notice?: OutboxNotice
}

/** A mail `owner_notice` that is stored with the change it is about. */
export interface OutboxNotice {
  readonly to: readonly string[]
  readonly data: Readonly<Record<string, string>>
}

export interface Invoice {
  readonly terms: InvoiceTerms
  readonly state: InvoiceState
  /** Operation ids of the last eight mutations. */
  readonly lastOps: readonly { readonly opId: string; readonly seq: number }[]
  /** Entries not yet relayed. */
  readonly outbox: readonly OutboxEntry[]
  /** Rises with every refund that is opened or withdrawn; 0 without any. Only `RefundRepository` raises it; nothing shows it. */
  readonly refundSeq: number
}

/** Transfer keys of the payments with a row in the invoice's ledger: at most a hundred. */
export function ledgerKeys({ state }: Pick<Invoice, 'state'>): readonly string[] {
  return state.ledger.map(({ payment }) => payment)
}

/** Idempotency guard of `POST /invoices`, stored in the invoice itself. */
export interface InvoiceIdempotency {
  readonly key: string
  /** SHA-256 of the raw request body, hex. */
  readonly fingerprint: string
  readonly requestId: string
  readonly at: Ms
}

export interface NewInvoice {
  readonly terms: InvoiceTerms
  readonly state: InvoiceState
  readonly outbox: readonly OutboxEntry[]
  readonly idempotency: InvoiceIdempotency | null
  readonly opId: string | null
  /** The use of a limited payment link that the insert claims (`linkUseOf`); absent for every other invoice. */
  readonly linkUse?: string
}

/** Which unique index refused an insert; the caller branches on it. */
export type InvoiceConflict = 'idempotency_key' | 'number' | 'claims' | 'draws' | 'link_use' | 'id'

/** One compare-and-set: all changes of the invoice, or none. */
export interface InvoiceChange {
  readonly id: string
  /** Version that was read; the write happens only if it is still current. */
  readonly expectedVersion: number
  /** `refundSeq` that was read: with another one, refunds that the decision did not see were opened or withdrawn. */
  readonly expectedRefundSeq: number
  readonly state: InvoiceState
  readonly append: readonly OutboxEntry[]
  readonly op: { readonly opId: string; readonly seq: number } | null
}

export interface InvoiceListQuery {
  readonly workspaceId: string
  readonly mode: Mode
  readonly limit: number
  /** Only invoices older than this id (UUIDv7 order), newest first. */
  readonly beforeId: string | null
  readonly status: InvoiceStatus | null
  readonly orderId: string | null
  /** Exclusive bounds on creation time. */
  readonly createdAfter: Ms | null
  readonly createdBefore: Ms | null
}

/** An invoice as the owner of addresses and amounts. */
export interface ClaimHolder {
  readonly invoiceId: string
  readonly workspaceId: string
  /** The number shown to people. */
  readonly number: number
  readonly paymentMethods: readonly PaymentMethod[]
}

/** A payment method of an invoice on a network, as its scanner needs it. */
export interface WatchedMethod {
  readonly invoiceId: string
  readonly matchKey: string
  /** When it was first shown. */
  readonly since: Ms
  /** The invoice's deadline. */
  readonly expiresAt: Ms
  /** The invoice still waits for money or for its confirmation. */
  readonly isOpen: boolean
  /** The invoice still waits for money. */
  readonly isUnpaid: boolean
  /** The address is one of a list, which its owner uses for other things as well: balances may fall there at any time. */
  readonly isListed: boolean
}

/** Payment methods of open invoices on a network, by asset. */
export interface OpenMethods {
  readonly byAsset: ReadonlyMap<AssetId, number>
  /** The next deadline among their invoices; null when there is none. */
  readonly nextDeadline: Ms | null
  /** False when there are more invoices than were counted. */
  readonly isComplete: boolean
}

/** A position in the order in which claims become free. */
export interface ReleaseMark {
  readonly invoiceId: string
  readonly releaseAt: Ms
}

/** Invoices with unrelayed entries, oldest first. */
export interface OutboxBatch {
  readonly invoices: readonly Invoice[]
  /** The store's clock when it read them; null without invoices. */
  readonly storeNow: Ms | null
}

/** Another invoice holds a claim (address, amount or place in a budget): offer the next candidate. */
export class ClaimTaken extends Error {
  override readonly name = 'ClaimTaken'
  /** Only a place in a budget was taken: the address or amount offered with it may still be free. */
  readonly isDraw: boolean

  constructor(message: string, options: ErrorOptions & { readonly isDraw?: boolean } = {}) {
    super(message, options)
    this.isDraw = options.isDraw ?? false
  }
}

/** Number of outbox shards; a shard is relayed by one worker at a time. */
export const OUTBOX_SHARDS = 8

/** The shard that relays an invoice's outbox, 0 … 7: distributed by its id, the same in every process. */
export function outboxShardOf(invoiceId: string): number {
  let hash = 0
  for (let at = 0; at < invoiceId.length; at += 1) hash = (Math.imul(hash, 31) + invoiceId.charCodeAt(at)) | 0
  return (hash >>> 0) % OUTBOX_SHARDS
}

/** Job id of a shard on the outbox queue. */
export const outboxJobOf = (shard: number): string => `shard-${shard}`

/** Job id of an invoice's shard on the outbox queue. */
export const outboxJobId = (invoiceId: string): string => outboxJobOf(outboxShardOf(invoiceId))

/** The shard of a job; throws `TypeError` for an id that is not of the outbox queue. */
export function shardOfJob(id: string): number {
  const shard = Number(/^shard-(\d)$/.exec(id)?.[1])
  if (!Number.isInteger(shard) || shard >= OUTBOX_SHARDS) throw new TypeError(`no outbox shard ${id}`)
  return shard
}

/** An invoice with everything that its books follow from. */
export interface InvoiceRecords {
  readonly invoice: Invoice
  readonly payments: readonly Payment[]
  readonly refunds: readonly Refund[]
}

/** Invoices with those of these payments and refunds that are theirs, in the same order. */
export function withRecords(
  invoices: readonly Invoice[],
  payments: readonly Payment[],
  refunds: readonly Refund[],
): readonly InvoiceRecords[] {
  const records = new Map(
    invoices.map((invoice) => [invoice.terms.id, { invoice, payments: [] as Payment[], refunds: [] as Refund[] }]),
  )
  for (const payment of payments) records.get(payment.invoiceId ?? '')?.payments.push(payment)
  for (const refund of refunds) records.get(refund.invoiceId)?.refunds.push(refund)
  return [...records.values()]
}
