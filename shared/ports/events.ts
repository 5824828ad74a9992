import type { EventType, ExceptionKind, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'
import type { HttpPhases } from './webhook-http.ts'

/** A materialised event; `body` is the exact text that every delivery of it carries. */
export interface EventRecord {
  /** `evt_…` */
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly invoiceId: string | null
  readonly seq: number
  readonly type: EventType
  /** UTF-8 bytes, frozen. */
  readonly body: Uint8Array
  readonly createdAt: Ms
}

export interface WebhookEndpoint {
  readonly id: string
  readonly workspaceId: string
  readonly url: string
  /** `*` or event types. */
  readonly events: readonly ('*' | EventType)[]
  readonly mode: 'live' | 'test' | 'both'
  readonly description: string | null
  readonly status: 'enabled' | 'disabled'
  /** AES-256-GCM envelopes of `whsec_…` secrets, current first. */
  readonly sealedSecrets: readonly string[]
  /** Secrets of before a rotation, newest first; each signs the Standard Webhooks header until its time is over. */
  readonly formerSecrets?: readonly { readonly sealed: string; readonly until: Ms }[]
  /** The last rotation, so that a repetition of it is recognised. */
  readonly rotatedBy?: string
  /** When it was last disabled; absent when it never was since this is recorded. */
  readonly disabledAt?: Ms
  /** When it was last enabled again; absent when it never was. */
  readonly enabledAt?: Ms
  readonly createdAt: Ms
  readonly updatedAt: Ms
  readonly opId: string | null
}

export interface EndpointRepository {
  insert(endpoint: WebhookEndpoint): Promise<'inserted' | 'exists'>
  findById(id: string): Promise<WebhookEndpoint | null>
  /** Those that exist, by id, in one majority read that starts after the call. */
  findByIds(ids: readonly string[]): Promise<ReadonlyMap<string, WebhookEndpoint>>
  /** Endpoints of a workspace, newest first; `receiving` restricts to those that get events of this mode. */
  list(workspaceId: string, receiving: Mode | null): Promise<readonly WebhookEndpoint[]>
  /** All endpoints of several workspaces, disabled ones included, in one majority read that starts after the call. */
  listOf(workspaceIds: readonly string[]): Promise<readonly WebhookEndpoint[]>
  count(workspaceId: string): Promise<number>
  remove(id: string): Promise<boolean>
  /** A test key deletes a `both` endpoint: it stays, live only. */
  restrictToLive(id: string): Promise<boolean>
}

export interface Delivery {
  /** `whd_…`, stable over retries. */
  readonly id: string
  readonly eventId: string
  readonly eventType: EventType
  readonly endpointId: string
  readonly workspaceId: string
  readonly mode: Mode
  /** 0 for the first, +1 for each resend. */
  readonly generation: number
  /** `held`: its endpoint is disabled; it goes on when that is enabled again. */
  readonly status: 'pending' | 'held' | 'succeeded' | 'failed'
  /** Recorded outcomes so far. Claims never consume attempts. */
  readonly attempt: number
  /** Next send time, and the lease clock while claimed. */
  readonly dueAt: Ms
  readonly leaseToken: string | null
  readonly claims: number
  readonly createdAt: Ms
  readonly finishedAt: Ms | null
  readonly lastError: string | null
  readonly lastStatusCode: number | null
  /** The recovery that made it; absent otherwise. */
  readonly recoveryId?: string
  /** The operation of a person that made it; absent otherwise. */
  readonly resendOf?: string
}

export interface DeliveryOutcome {
  readonly deliveryId: string
  /** The write happens only while this token still holds the row. */
  readonly leaseToken: string
  readonly result: 'succeeded' | 'retry' | 'failed'
  /** For `retry`: the pause before the next request, in milliseconds, that is left when the store writes it, below 0 when it is over by then; otherwise null. */
  readonly retryAfterMs: Ms | null
  readonly attempt: DeliveryAttempt
}

/** One HTTP request of a delivery. */
export interface DeliveryAttempt {
  readonly number: number
  readonly at: Ms
  readonly durationMs: number
  readonly statusCode: number | null
  /** Machine word for why it failed, null on success: `timeout`, `dns`, `refused`, `status_500`, `blocked_address` … */
  readonly error: string | null
  readonly ip: string | null
  /** Where the time went, in whole milliseconds. Absent in attempts of before it was kept. */
  readonly phases?: HttpPhases
  /** First 4 KB of the answer. */
  readonly responseBody: string
}

/** How many due rows of one endpoint a dispatcher has room for; at least one. */
export interface ClaimWant {
  readonly endpointId: string
  readonly limit: number
}

export interface DeliveryRepository {
  /** Inserts what is missing; existing (event, endpoint, generation) rows are left alone. */
  insertMany(deliveries: readonly Delivery[]): Promise<void>
  /** Endpoints with pending rows due before `until`, with their oldest due time (a DISTINCT_SCAN). */
  dueEndpoints(until: Ms, limit: number): Promise<readonly { endpointId: string; dueAt: Ms }[]>
  /**
   * Rows that are due by the store's clock, up to `limit` of each endpoint; an endpoint's rows come oldest due first. What fell
   * due before `from` is left out; null leaves out nothing.
   */
  findDue(wants: readonly ClaimWant[], from: Ms | null): Promise<readonly Delivery[]>
  /**
   * Claims under one token, for `leaseMs`, those of the rows that are still due and as they were read, and raises their
   * `claims`. What is returned is ours, in the order given; `dueAt` is still the time at which it fell due.
   */
  claim(rows: readonly Delivery[], token: string, leaseMs: number): Promise<readonly Delivery[]>
  /** Writes outcomes and attempt rows, fenced by lease token. */
  finish(outcomes: readonly DeliveryOutcome[]): Promise<void>
  /** Gives claimed, unsent rows back at once. */
  release(token: string): Promise<void>
  /** Earliest due time of the endpoint's pending rows; null when none. */
  nextDue(endpointId: string): Promise<Ms | null>
  purge(endpointId: string, mode: Mode | null): Promise<number>
  /**
   * Puts pending rows of a disabled endpoint aside: those that nobody claims, and those claimed under `leaseToken`. Rows that
   * another process is sending stay as they are. Outcomes already recorded, and due times, are kept.
   */
  hold(endpointId: string, leaseToken: string | null): Promise<void>
  /** Lets held rows of an endpoint go on: what was due meanwhile is due now. */
  unhold(endpointId: string): Promise<number>
  /** Endpoints with held rows. */
  heldEndpoints(): Promise<readonly string[]>
  findById(id: string): Promise<Delivery | null>
  listByEvent(eventId: string): Promise<readonly Delivery[]>
  highestGeneration(eventId: string, endpointId: string): Promise<number>
  /** Requests of a delivery that are still kept (30 days), oldest first. */
  listAttempts(deliveryId: string): Promise<readonly DeliveryAttempt[]>
  /** The endpoint's latest succeeded or failed deliveries by finish time, newest first (index endpoint, finishedAt). */
  lastFinished(endpointId: string, limit: number): Promise<readonly Pick<Delivery, 'id' | 'status' | 'finishedAt'>[]>
}

export interface EventRepository {
  /** Inserts what is missing; the first bytes of an id win. */
  insertMany(events: readonly EventRecord[]): Promise<void>
  findByIds(ids: readonly string[]): Promise<ReadonlyMap<string, EventRecord>>
  listByInvoice(invoiceId: string): Promise<readonly EventRecord[]>
}

export interface ExceptionRecord {
  /** Deterministic: `<kind>:<subject>`. */
  readonly id: string
  readonly kind: ExceptionKind
  readonly workspaceId: string | null
  readonly mode: Mode | null
  readonly invoiceId: string | null
  readonly paymentKey: string | null
  readonly detail: string
  readonly openedAt: Ms
  readonly closedAt: Ms | null
}

/** What an invoice's outbox says about one inbox row. */
export interface ExceptionChange {
  readonly record: ExceptionRecord
  /** Position of the entry in the invoice's outbox. */
  readonly seq: number
  readonly isOpen: boolean
  /** When the invoice said so. */
  readonly at: Ms
  /** True when the row is to exist even if nobody stored it as open before: it was opened and closed in one read. */
  readonly creates: boolean
}

export interface ExceptionRepository {
  /**
   * Applies what invoices say about their rows. A row that shows a later entry of its invoice (a higher `seq`) or this very
   * one stays as it is, so that a relay that was frozen cannot undo what another one wrote meanwhile, and what a person closed
   * stays closed when an entry is relayed twice.
   */
  applyChanges(changes: readonly ExceptionChange[]): Promise<void>
  /** Opens or leaves open; reopening a closed one clears closedAt. */
  open(records: readonly ExceptionRecord[]): Promise<void>
  /** Opens what never was there or closed by itself (`closeGone`); what a person closed stays closed. */
  openOnce(records: readonly ExceptionRecord[]): Promise<void>
  /**
   * Opens an entry about a lasting condition. One that is open keeps its time and gets this text; one that was closed, by anybody,
   * opens again with this time and text.
   */
  report(record: ExceptionRecord): Promise<void>
  close(ids: readonly string[], at: Ms): Promise<void>
  /** Closes what is open about stray transfers under these keys, until they are seen again. */
  closeGone(paymentKeys: readonly string[], at: Ms): Promise<void>
  /** Transfer keys that open entries about stray transfers of a network name, in order, beginning behind `after`. */
  strayKeys(scope: { mode: Mode; network: NetworkId; after: string | null; limit: number }): Promise<readonly string[]>
  findById(id: string): Promise<ExceptionRecord | null>
  /** All that were opened about one invoice, newest first. */
  listByInvoice(invoiceId: string): Promise<readonly ExceptionRecord[]>
  /** Closes an open entry together with its audit row; false when it is closed already. */
  closeAudited(id: string, at: Ms, audit: AuditRecord): Promise<boolean>
  listOpen(workspaceId: string | null): Promise<readonly ExceptionRecord[]>
}

export interface MailRecord {
  /** Deterministic, so that a mail is made once. */
  readonly id: string
  readonly workspaceId: string
  readonly template:
    | 'payment_reorged'
    | 'endpoint_failing'
    | 'shared_key_material'
    | 'addresses_low'
    | 'exceptions_digest'
    | 'wallet_changed'
    | 'address_displaced'
    | 'address_proved'
    | 'login_new_device'
    | 'recovery_code_used'
    | 'account_changed'
    | 'member_invited'
    | 'owner_notice'
  readonly to: string
  readonly data: Readonly<Record<string, string>>
  readonly createdAt: Ms
}

export interface MailRepository {
  /** Queues what is missing. */
  insertMany(mails: readonly MailRecord[]): Promise<void>
  /** True when one of these was ever queued and is still kept (90 days). */
  hasAny(ids: readonly string[]): Promise<boolean>
}
