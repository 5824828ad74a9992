import type { EventType, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Delivery } from './deliveries.ts'
import type { EventPlace } from './delivery-lookups.ts'
import type { EventRecord } from './events.ts'

/** Where a page of a list ended; what comes next is older, or as old with a smaller id. */
export interface ListPlace {
  readonly createdAt: Ms
  readonly id: string
}

/** Which deliveries of a workspace are looked for; null leaves a field open. */
export interface DeliverySearch {
  readonly workspaceId: string
  readonly mode: Mode
  readonly status: Delivery['status'] | null
  readonly endpointId: string | null
  readonly eventType: EventType | null
  readonly eventId: string | null
  readonly invoiceId: string | null
  /** Inclusive. */
  readonly createdFrom: Ms | null
  /** Exclusive. */
  readonly createdBefore: Ms | null
  readonly after: ListPlace | null
  readonly limit: number
}

/** How an endpoint does. Counts stop at `COUNT_MAX`. */
export interface EndpointHealth {
  /** Its latest deliveries that were tried at least once, whatever became of them: at most a hundred, newest first. */
  readonly tried: readonly Pick<
    Delivery,
    'id' | 'status' | 'attempt' | 'createdAt' | 'finishedAt' | 'lastError' | 'lastStatusCode' | 'eventType'
  >[]
  /** When one arrived last, among the latest hundred that are over; null when none of them did. */
  readonly lastSuccessAt: Ms | null
  /** Pending ones, and those of them that were tried at least once. */
  readonly waiting: number
  readonly retrying: number
  readonly held: number
  /** When the oldest waiting one falls or fell due; null when none waits. */
  readonly oldestDueAt: Ms | null
}

/** Counts of rows end here: nobody needs to know by how many a million is missed. */
export const COUNT_MAX = 10_000

/** What people look for among events and deliveries; every list is read from an index in its order. */
export interface DeliveryReads {
  /** Newest first. */
  search(search: DeliverySearch): Promise<readonly Delivery[]>
  /** Every delivery of these events of a workspace, oldest first. */
  ofEvents(workspaceId: string, eventIds: readonly string[]): Promise<readonly Delivery[]>
  health(endpointId: string): Promise<EndpointHealth>
  /** Events of a workspace and mode, newest first, those of one invoice when it is named. */
  listEvents(query: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly invoiceId: string | null
    readonly after: EventPlace | null
    readonly limit: number
  }): Promise<readonly Omit<EventRecord, 'body'>[]>
  /** Numbers by id, of the invoices that exist. */
  invoiceNumbers(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** The invoice with a number; null when there is none. */
  invoiceIdOf(workspaceId: string, mode: Mode, number: number): Promise<string | null>
}
