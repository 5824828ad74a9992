import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Delivery } from './deliveries.ts'
import type { EventRecord } from './events.ts'

/** Filter of listed deliveries. */
export interface DeliveryFilter {
  readonly endpointIds: readonly string[]
  readonly status: Delivery['status'] | null
  readonly limit: number
}

/** Reads of events and deliveries for people. */
export interface DeliveryLookups {
  /** Newest first; a single status is searched among the newest 5,000 of each endpoint where no index serves it. */
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

/** A position in the events of a workspace. */
export interface EventPlace {
  readonly createdAt: Ms
  /** Empty: before every event of that moment. */
  readonly id: string
}
