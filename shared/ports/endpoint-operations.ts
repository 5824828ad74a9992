import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'
import type { Delivery, EventRecord, WebhookEndpoint } from './events.ts'
import type { Recorded } from './users.ts'

/** What people do to webhook endpoints and deliveries. Each deed is stored together with its audit row: both or neither. */
export interface EndpointDeeds {
  /** False when the deed was noted before; then nothing is stored. */
  insert(endpoint: WebhookEndpoint, audit: Recorded): Promise<boolean>
  /** Changes an endpoint that was last changed at `from`; false when it was changed since, is gone, or the deed was noted before. */
  update(
    id: string,
    from: Ms,
    change: Pick<WebhookEndpoint, 'events' | 'description'>,
    at: Ms,
    audit: Recorded,
  ): Promise<boolean>
  /** As `EndpointRepository.remove`. */
  remove(id: string, audit: Recorded): Promise<boolean>
  /** As `EndpointRepository.restrictToLive`. */
  restrictToLive(id: string, audit: AuditRecord): Promise<boolean>
  /** False when the endpoint has that status already, or is gone. */
  setStatus(id: string, status: WebhookEndpoint['status'], at: Ms, audit: Recorded): Promise<boolean>
  /** Replaces the secrets while `from` is still the current one; false when it is not. */
  rotate(
    id: string,
    from: string,
    next: Required<Pick<WebhookEndpoint, 'sealedSecrets' | 'formerSecrets' | 'rotatedBy'>>,
    at: Ms,
    audit: Recorded,
  ): Promise<boolean>
  /** Stores a delivery, and its event when that is new; false when the delivery is there already. */
  addDelivery(delivery: Delivery, event: EventRecord | null, audit: AuditRecord): Promise<boolean>
  /** Whether an action with this audit row was carried out. */
  isRecorded(auditId: string): Promise<boolean>
}

/** Which deliveries are listed. */
export interface DeliveryFilter {
  readonly endpointIds: readonly string[]
  readonly status: Delivery['status'] | null
  readonly limit: number
}

/** Questions of people about events and deliveries. */
export interface DeliveryLookups {
  /** Newest first. */
  list(filter: DeliveryFilter): Promise<readonly Delivery[]>
  /** Every delivery of these events to the endpoint. */
  ofEvents(endpointId: string, eventIds: readonly string[]): Promise<readonly Delivery[]>
  /** Events of a workspace after `after` and before `until`, oldest first, in the order of creation time and id. */
  eventsAfter(
    workspaceId: string,
    after: EventPlace,
    until: Ms,
    limit: number,
  ): Promise<readonly Omit<EventRecord, 'body'>[]>
}

/** A place in the events of a workspace. */
export interface EventPlace {
  readonly createdAt: Ms
  /** Empty: before every event of that moment. */
  readonly id: string
}

/** A request to send an endpoint again what it has not received; any process carries it on from where it stands. */
export interface Recovery {
  readonly id: string
  readonly workspaceId: string
  readonly endpointId: string
  readonly since: Ms
  /** Exclusive. */
  readonly until: Ms
  /** `failed`: what the endpoint never took. `all`: everything it is subscribed to. */
  readonly scope: 'failed' | 'all'
  readonly state: 'open' | 'done' | 'cancelled'
  /** The last event that was looked at. */
  readonly place: EventPlace
  readonly scanned: number
  readonly made: number
  readonly askedAt: Ms
  readonly finishedAt: Ms | null
  /** When somebody should go on, and the lease clock while somebody does. */
  readonly dueAt: Ms
  readonly leaseToken: string | null
}

export interface RecoveryRepository {
  /** Stores the request with its audit row; the one that is open when the endpoint has one. */
  ask(recovery: Recovery, audit: AuditRecord): Promise<Recovery>
  findById(id: string): Promise<Recovery | null>
  /** Newest first. */
  listByEndpoint(endpointId: string, limit: number): Promise<readonly Recovery[]>
  /** Open ones that nobody works on. */
  due(until: Ms, limit: number): Promise<readonly string[]>
  /** Claims an open one that is due; null otherwise. */
  claim(id: string, token: string, leaseMs: Ms): Promise<Recovery | null>
  /** Moves on and prolongs the lease; false when the lease was lost. */
  progress(id: string, token: string, next: Pick<Recovery, 'place' | 'scanned' | 'made'>, leaseMs: Ms): Promise<boolean>
  /** Lets go of it for `pauseMs`. */
  pause(id: string, token: string, pauseMs: Ms): Promise<void>
  /** Ends it, with its audit row; false when the lease was lost. */
  finish(id: string, token: string, state: 'done' | 'cancelled', at: Ms, audit: AuditRecord): Promise<boolean>
}
