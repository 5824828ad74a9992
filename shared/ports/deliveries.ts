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
