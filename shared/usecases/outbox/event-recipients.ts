import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { EventRecord } from '#shared/ports/events.ts'

/** Two processes' readings of the store's clock never differ by more than this; a larger difference makes a process unready. */
const CLOCK_TOLERANCE_MS = 2_000

/** True when the endpoint subscribes to the event: same workspace, its mode, a subscribed type. Ignores pauses. */
export function subscribes(
  endpoint: WebhookEndpoint,
  event: Pick<EventRecord, 'workspaceId' | 'mode' | 'type'>,
): boolean {
  return (
    endpoint.workspaceId === event.workspaceId &&
    (endpoint.mode === 'both' || endpoint.mode === event.mode) &&
    endpoint.events.some((type) => type === '*' || type === event.type)
  )
}

/**
 * True when the endpoint was enabled at `at`, according to its last pause; the time of the change decides, not the time at
 * which the relay reads. A change within 2 s of a switch counts as made while enabled, because the clocks of two processes may
 * differ by that much and a missing delivery is worse than one more. An endpoint that was disabled before pauses were
 * recorded counts as disabled all along.
 */
export function wasEnabledAt(endpoint: WebhookEndpoint, at: Ms): boolean {
  const { status } = endpoint
  const from = endpoint.disabledAt ?? (status === 'disabled' ? Number.NEGATIVE_INFINITY : null)
  if (from === null) return true
  const to = status === 'disabled' ? Number.POSITIVE_INFINITY : (endpoint.enabledAt ?? from)
  return at <= from + CLOCK_TOLERANCE_MS || at >= to - CLOCK_TOLERANCE_MS
}
