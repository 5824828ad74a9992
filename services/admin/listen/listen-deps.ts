import type { EventStream } from '#shared/ports/event-stream.ts'
import type { RateLimiter } from '#shared/ports/rate-limit.ts'
import { createKeyUse, type KeyUse } from '#shared/usecases/workspaces/api-key-last-used.ts'
import { createSlots, type Slots } from '../slots.ts'
import { createListenHub, type ListenHub } from './listen-hub.ts'

/** Streams of events that one workspace may have open in this process, whatever its number of keys. */
const PER_WORKSPACE_MAX = 10
/** Listeners of one workspace, and of all, that read the history of the store at the same time; each may scan much of it. */
const CATCH_UP_PER_WORKSPACE_MAX = 2
const CATCH_UP_MAX = 4
/** Streams of events of this process. */
const TOTAL_MAX = 200

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
    slots: createSlots({ perOwnerMax: PER_WORKSPACE_MAX, totalMax: TOTAL_MAX }),
    catchUps: createSlots({ perOwnerMax: CATCH_UP_PER_WORKSPACE_MAX, totalMax: CATCH_UP_MAX }),
    keyUse: createKeyUse(parts),
  }
}
