import type { EventType, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { HttpPhases } from './webhook-http.ts'

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
  /** `held`: its endpoint is disabled; it resumes when the endpoint is enabled again. */
  readonly status: 'pending' | 'held' | 'succeeded' | 'failed'
  /** Recorded outcomes so far. Claims never consume attempts. */
  readonly attempt: number
  /** Next send time, and the end of the lease while claimed. */
  readonly dueAt: Ms
  readonly leaseToken: string | null
  readonly claims: number
  readonly createdAt: Ms
  readonly finishedAt: Ms | null
  readonly lastError: string | null
  readonly lastStatusCode: number | null
  /** The recovery that created it; absent otherwise. */
  readonly recoveryId?: string
  /** The operator's operation that created it; absent otherwise. */
  readonly resendOf?: string
}

export interface DeliveryOutcome {
  readonly deliveryId: string
  /** The write happens only while this token still holds the row. */
  readonly leaseToken: string
  readonly result: 'succeeded' | 'retry' | 'failed'
  /** For `retry`: the rest of the pause before the next request when the store writes it, in milliseconds, below 0 when it is over by then; otherwise null. */
  readonly retryAfterMs: Ms | null
  readonly attempt: DeliveryAttempt
}

/** One HTTP request of a delivery. */
export interface DeliveryAttempt {
  readonly number: number
  readonly at: Ms
  readonly durationMs: number
  readonly statusCode: number | null
  /** Error code of the failure, null on success: `timeout`, `dns`, `refused`, `status_500`, `blocked_address` … */
  readonly error: string | null
  readonly ip: string | null
  /** Duration of each phase, in whole milliseconds. */
  readonly phases: HttpPhases
  /** First 4 KB of the response. */
  readonly responseBody: string
}

/** How many due rows of one endpoint a dispatcher has capacity for; at least one. */
export interface ClaimWant {
  readonly endpointId: string
  readonly limit: number
}

export interface DeliveryRepository {
  /**
   * Inserts what is missing; existing (event, endpoint, generation) rows are left alone. Returns the ids of rows that are this caller's:
   * those that this call inserted, and claimed rows that its own lost first try inserted, by their lease token. Nobody else may
   * send a claimed row of them, and this caller may send no other. Throws when not all rows are known to be durable.
   */
  insertMany(deliveries: readonly Delivery[]): Promise<ReadonlySet<string>>
  /** Endpoints with pending rows due before `until`, with their oldest due time (a DISTINCT_SCAN). */
  dueEndpoints(until: Ms, limit: number): Promise<readonly { endpointId: string; dueAt: Ms }[]>
  /**
   * Rows that are due by the store's clock, up to `limit` of each endpoint; an endpoint's rows come oldest due first. Rows that fell
   * due before `from` are left out; null includes all.
   */
  findDue(wants: readonly ClaimWant[], from: Ms | null): Promise<readonly Delivery[]>
  /**
   * Claims under one token, for `leaseMs`, those of the rows that are still due and unchanged since they were read, and increments their
   * `claims`. Returns the claimed rows, in the order given; `dueAt` is still the time at which they fell due.
   */
  claim(rows: readonly Delivery[], token: string, leaseMs: number): Promise<readonly Delivery[]>
  /** Writes outcomes and attempt rows, fenced by lease token. */
  finish(outcomes: readonly DeliveryOutcome[]): Promise<void>
  /** Releases at once those of these rows that are claimed under the token and were not sent. */
  release(ids: readonly string[], token: string): Promise<void>
  /** Earliest due time of the endpoint's pending rows; null when none. */
  nextDue(endpointId: string): Promise<Ms | null>
  purge(endpointId: string, mode: Mode | null): Promise<number>
  /**
   * Pauses pending rows of a disabled endpoint: unclaimed ones, and those claimed under `leaseToken`. Rows that
   * another process is sending are unchanged. Outcomes already recorded, and due times, are kept.
   */
  hold(endpointId: string, leaseToken: string | null): Promise<void>
  /** Resumes paused rows of an endpoint: rows that fell due meanwhile are due now. */
  unhold(endpointId: string): Promise<number>
  /** Endpoints with paused rows. */
  heldEndpoints(): Promise<readonly string[]>
  findById(id: string): Promise<Delivery | null>
  listByEvent(eventId: string): Promise<readonly Delivery[]>
  highestGeneration(eventId: string, endpointId: string): Promise<number>
  /** Requests of a delivery that are still stored (30 days), oldest first. */
  listAttempts(deliveryId: string): Promise<readonly DeliveryAttempt[]>
  /** The endpoint's latest succeeded or failed deliveries by finish time, newest first (index endpoint, finishedAt). */
  lastFinished(endpointId: string, limit: number): Promise<readonly Pick<Delivery, 'id' | 'status' | 'finishedAt'>[]>
}
