import type { EventType, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Delivery } from './deliveries.ts'
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
  /** Of any of these invoices. */
  readonly invoiceIds: readonly string[] | null
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
