import type { Delivery } from '#shared/ports/deliveries.ts'
import type { Recovery } from '#shared/ports/recoveries.ts'
import { snakeCase } from './snake-case.ts'

/** A delivery as the command line prints it. */
export function presentDelivery({ leaseToken: _token, ...delivery }: Delivery): object {
  return Object(snakeCase(delivery))
}

/** A recovery as the command line prints it: the request and its progress. */
export function presentRecovery(recovery: Recovery): object {
  const { leaseToken: _token, dueAt: _due, since, until, place, ...shown } = recovery
  const reached = new Date(place.createdAt).toISOString()
  const period = { since: new Date(since).toISOString(), until: new Date(until).toISOString() }
  return { ...Object(snakeCase(shown)), ...period, reached }
}
