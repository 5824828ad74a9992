import type { EventType, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Delivery } from './deliveries.ts'
import type { EventPlace } from './delivery-lookups.ts'
import type { EventRecord } from './events.ts'
import type { ListOrder } from './list-order.ts'

/** End of a page of a list; newest first, the next entries are older, or as old with a smaller id; oldest first, the other way round. */
export interface ListPlace {
  readonly createdAt: Ms
  readonly id: string
}

/** Filter of a workspace's deliveries; null leaves a field open. */
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
  /** Of creation; newest first when absent. */
  readonly order?: ListOrder
  readonly after: ListPlace | null
  readonly limit: number
}

/** A page of a search. */
export interface DeliveryPage {
  readonly deliveries: readonly Delivery[]
  readonly next: ListPlace | null
}

/** Health of an endpoint. Counts stop at `COUNT_MAX`. */
export interface EndpointHealth {
  /** Its latest deliveries that were tried at least once, whatever their status: at most a hundred, newest first. */
  readonly tried: readonly Pick<
    Delivery,
    'id' | 'status' | 'attempt' | 'createdAt' | 'finishedAt' | 'lastError' | 'lastStatusCode' | 'eventType'
  >[]
  /** When the last one succeeded, among the latest hundred ended ones; null when none of them did. */
  readonly lastSuccessAt: Ms | null
  /** Pending ones, and those of them that were tried at least once. */
  readonly waiting: number
  readonly retrying: number
  readonly held: number
  /** When the oldest waiting one falls or fell due; null when none waits. */
  readonly oldestDueAt: Ms | null
}

/** Counts of rows end here: a larger figure is of no use. */
export const COUNT_MAX = 10_000

/** Searches for events and deliveries; every list is read from an index in its order. */
export interface DeliveryReads {
  /**
   * At most `limit` deliveries in the order of the search, and where to continue, null at the end. Combinations of filters that no index serves
   * read 5,000 deliveries at a time, so a page may hold fewer, even none, before the end.
   */
  search(search: DeliverySearch): Promise<DeliveryPage>
  /** Every delivery of these events of a workspace, oldest first. */
  ofEvents(workspaceId: string, eventIds: readonly string[]): Promise<readonly Delivery[]>
  health(endpointId: string): Promise<EndpointHealth>
  /** Events of a workspace and mode, those of one invoice when it is named; newest first unless `order` says otherwise. */
  listEvents(query: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly invoiceId: string | null
    readonly order?: ListOrder
    readonly after: EventPlace | null
    readonly limit: number
  }): Promise<readonly Omit<EventRecord, 'body'>[]>
  /** Numbers by id, of the invoices that exist. */
  invoiceNumbers(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** The invoice with a number; null when there is none. */
  invoiceIdOf(workspaceId: string, mode: Mode, number: number): Promise<string | null>
}
