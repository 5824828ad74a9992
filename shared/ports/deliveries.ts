import type { DeliveryAttempt } from '#shared/db/deliveries/delivery-model.ts'
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
