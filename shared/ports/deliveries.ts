import type { Delivery, DeliveryAttempt } from '#shared/db/deliveries/delivery-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

export type { Delivery, DeliveryAttempt } from '#shared/db/deliveries/delivery-model.ts'

export interface DeliveryOutcome {
  readonly deliveryId: string
  /** The write happens only while this token still holds the row. */
  readonly leaseToken: string
  readonly result: 'succeeded' | 'retry' | 'failed'
  /** For `retry`: the rest of the pause before the next request when the store writes it, in milliseconds, below 0 when it is over by then; otherwise null. */
  readonly retryAfterMs: Ms | null
  readonly attempt: DeliveryAttempt
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
