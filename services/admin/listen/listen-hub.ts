import type { EventStream } from '#shared/db/deliveries/event-stream.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { StoredEvent } from '#shared/ports/event-stream.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import { createMailbox } from '../live-mailbox.ts'

/** A message for a listener, in the order of the store. */
export type Letter =
  | { readonly kind: 'event'; readonly event: StoredEvent }
  /** The listener has no events between the last one and this position. */
  | { readonly kind: 'place'; readonly place: string }
  /** It reads too slowly, or the store's stream broke: it must reconnect with its last position. */
  | { readonly kind: 'cut' }

/** One listener. */
export interface ListenFollower {
  /** Resolves once the store is followed, with a position after which this listener receives everything; rejects when that fails. */
  readonly ready: Promise<string>
  /** The next message; null when none came within `patienceMs` or the signal was aborted. */
  next(patienceMs: number, abort: AbortSignal): Promise<Letter | null>
  /** Ends it. Some time after the last listener left, the stream of the store ends too. */
  leave(): void
}

/** Messages that wait for one listener; a slower one is cut off and continues from the history of the store. */
export const UNREAD_MAX = 1_000
/** A quiet listener receives a new position this often, so that its own stays within the history. */
const PLACE_EVERY_MS = 15_000
/** The stream continues for this long after the last listener, because listeners come and go. */
const LINGER_MS = 30_000

interface Follow {
  readonly stop: () => Promise<void>
  readonly ready: Promise<string>
}

/** Makes the hub of one process. Nothing is followed without a listener. */
export function createListenHub(deps: { readonly stream: EventStream; readonly clock: Clock }) {
  const members = new Set<{
    readonly workspaceId: string
    readonly mode: Mode
    readonly post: (letter: Letter) => void
  }>()
  let following: Follow | null = null
  let reachedPlace: string | null = null
  let placedAt = 0
  let lingering: NodeJS.Timeout | undefined

  const tellPlace = (place: string): void => {
    const isFirst = reachedPlace === null
    reachedPlace = place
    if (!isFirst && deps.clock.now() - placedAt < PLACE_EVERY_MS) return
    placedAt = deps.clock.now()
    for (const { post } of members) post({ kind: 'place', place })
  }

  const begin = (): Follow => {
    clearTimeout(lingering)
    if (following !== null) return following
    const { promise: ready, resolve, reject } = withResolvers<string>()
    // A waiting caller gets the failure; there may be none.
    ready.catch(() => undefined)
    reachedPlace = null
    const { stop } = deps.stream.follow({
      event: (event) => {
        for (const { workspaceId, mode, post } of members) {
          if (event.workspaceId === workspaceId && event.mode === mode) post({ kind: 'event', event })
        }
        reachedPlace = event.place
        resolve(event.place)
      },
      reached: (place) => {
        tellPlace(place)
        resolve(place)
      },
      broken: (error) => {
        if (following?.ready === ready) following = null
        for (const { post } of members) post({ kind: 'cut' })
        reject(error)
      },
    })
    following = { stop, ready }
    return following
  }

  const end = async (): Promise<void> => {
    clearTimeout(lingering)
    const ending = following
    following = null
    await ending?.stop()
  }

  return {
    follow: (scope: { readonly workspaceId: string; readonly mode: Mode }): ListenFollower => {
      const box = createMailbox<Letter>(UNREAD_MAX, () => ({ kind: 'cut' }))
      const member = { ...scope, post: box.post }
      const { ready } = begin()
      members.add(member)
      const joinedAt = reachedPlace
      if (joinedAt !== null) box.post({ kind: 'place', place: joinedAt })
      const joined = ready.then((first) => joinedAt ?? first)
      joined.catch(() => undefined)
      return {
        ready: joined,
        next: box.next,
        leave: () => {
          if (!members.delete(member) || members.size > 0) return
          lingering = setTimeout(() => void end(), LINGER_MS)
          lingering.unref()
        },
      }
    },

    /** Ends the stream of the store at once, when the process stops. */
    close: end,
  }
}

/** `Promise.withResolvers` of later language versions. */
function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
