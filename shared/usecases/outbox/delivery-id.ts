import { createHash } from 'node:crypto'
import { deliveryIdFrom } from '#shared/domain/ids.ts'

/** Id of the delivery of an event to an endpoint: the same three values always give the same id. Generation 0 is the first delivery. */
export function deliveryId(eventId: string, endpointId: string, generation: number): string {
  return deliveryIdFrom(createHash('sha256').update(`${eventId}|${endpointId}|${generation}`).digest('hex'))
}
