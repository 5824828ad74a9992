import type { Installation } from '#scripts/cli/session/installation.ts'
import { limitedText } from '#shared/usecases/deliveries/limited-text.ts'

/** Older work should have been found by a sweep long ago. */
export const BACKLOG_AGE_MAX_MS = 10_000
const ENDPOINTS_MAX = 1_000
/** Endpoints that are named. */
const SHOWN = 5
/** Over which the rate of events is counted. */
const RATE_MS = 60_000

/**
 * Overdue deliveries. Those of endpoints at their own limit are a warning that names the endpoint, as more processes would not help; any other is
 * a fault, which is thrown.
 */
export async function checkDeliveries({
  deliveries,
  deliveryReads,
  limitedEndpoints,
  clock,
}: Installation): Promise<string> {
  const now = clock.now()
  const due = await deliveries.dueEndpoints(now - BACKLOG_AGE_MAX_MS, ENDPOINTS_MAX)
  const limited = new Map((await limitedEndpoints.list(now)).map((endpoint) => [endpoint.id, endpoint]))
  const own = due.flatMap(({ endpointId, dueAt }) => {
    const endpoint = limited.get(endpointId)
    return endpoint === undefined ? [] : [{ endpoint, behindMs: now - dueAt }]
  })
  const texts = await Promise.all(
    own.slice(0, SHOWN).map(async ({ endpoint, behindMs }) => {
      const events = await deliveryReads.countCreated(endpoint.id, now - RATE_MS)
      const text = limitedText(endpoint, (events * 1_000) / RATE_MS, behindMs)
      return `warning: endpoint ${endpoint.id} (${new URL(endpoint.url).host}) ${text}`
    }),
  )
  const others = due.length - own.length
  const faults = others === 0 ? [] : [`${others} endpoints have overdue deliveries; is webhooks running?`]
  const more = own.length > SHOWN ? [`${own.length - SHOWN} more endpoints are at their own limit`] : []
  const found = [...faults, ...texts, ...more].join('; ')
  if (others > 0) throw new Error(found)
  return found === '' ? 'nothing is overdue' : found
}
