import type { EventStream } from '#shared/db/deliveries/event-stream.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import type { RateLimiter } from '#shared/ports/rate-limit.ts'
import { createKeyUse, type KeyUse } from '#shared/usecases/workspaces/api-key-cache.ts'
import { createSlots, type Slots } from '../slots.ts'
import { createListenHub, type ListenHub } from './listen-hub.ts'

/** Dependencies of event streams for merchants' programs, in addition to those of all routes. */
export interface ListenDeps {
  readonly hub: ListenHub
  readonly stream: EventStream
  readonly slots: Slots
  /** Places of listeners that read the history: a slow one keeps no other workspace from reading theirs. */
  readonly catchUps: Slots
  readonly limiter: RateLimiter
  readonly keyUse: KeyUse
}

/** Wires the dependencies of streams. The stream of the store begins with the first listener. */
export function createListenDeps(
  parts: Parameters<typeof createKeyUse>[0] & Pick<ListenDeps, 'stream' | 'limiter'>,
): ListenDeps {
  const { stream, limiter } = parts
  return {
    stream,
    limiter,
    hub: createListenHub(parts),
    slots: createSlots(SCARCE.eventStreams.budget),
    catchUps: createSlots(SCARCE.eventCatchUps.budget),
    keyUse: createKeyUse(parts),
  }
}
