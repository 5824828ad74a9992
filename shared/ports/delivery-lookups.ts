import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Delivery } from './deliveries.ts'

/** Filter of listed deliveries. */
export interface DeliveryFilter {
  readonly endpointIds: readonly string[]
  readonly status: Delivery['status'] | null
  readonly limit: number
}

/** A position in the events of a workspace. */
export interface EventPlace {
  readonly createdAt: Ms
  /** Empty: before every event of that moment. */
  readonly id: string
}
