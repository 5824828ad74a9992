import type { ChangeFeed } from '#shared/db/reports/change-feed.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { ChangeKind, StoreChange } from '#shared/ports/change-feed.ts'
import type { Random } from '#shared/ports/runtime.ts'
import { createMailbox } from './live-mailbox.ts'

/** A message to a page: read this again. `all`: read everything again, because changes may have been missed. `none`: only the position. */
export interface LiveSignal {
  readonly kind: ChangeKind | 'all' | 'none'
  /** Empty with `all` and `none`. */
  readonly id: string
  readonly isNew: boolean
}

/** A signal and the position in the stream after it. */
export interface LiveEvent {
  readonly place: string
  readonly signal: LiveSignal
}

/** The changes that a page follows, and its position when its connection was interrupted. */
export interface LiveQuestion {
  readonly workspaceId: string
  readonly mode: Mode
  readonly lastPlace: string | null
}

/** One subscribed page. */
export interface LiveFollower {
  /** The next signal; null when none came within `patienceMs` or the signal was aborted. */
  next(patienceMs: number, abort: AbortSignal): Promise<LiveEvent | null>
  /** Ends it. A minute after the last page left, the stream of the store ends too. */
  leave(): void
}

/** Number of changes kept for pages that reconnect. */
const KEPT_MAX = 2_000
/** A page that lags behind by more than this must read everything again. */
const UNREAD_MAX = 200
/** The stream continues for this long after the last page: a page that reconnects has missed nothing. */
const LINGER_MS = 60_000
/**
 * What a page shows when it subscribes was read within this time: it waits a minute for an answer (`request-server.ts`), and what it has kept
 * longer than ten seconds it reads again (`query-client.ts`).
 */
const READ_MS_MAX = 120_000
const ALL: LiveSignal = { kind: 'all', id: '', isNew: false }
const NONE: LiveSignal = { ...ALL, kind: 'none' }

interface StoredEvents {
  readonly seq: number
  readonly at: number
  readonly change: StoreChange | null
}

interface Member {
  readonly question: LiveQuestion
  readonly post: (event: LiveEvent) => void
}

/** Makes the hub of one process. Nothing is followed without a page. */
export function createLiveHub(deps: {
  readonly feed: ChangeFeed
  readonly random: Random
  /** Default a minute. */
  readonly lingerMs?: number
  /** Milliseconds since any moment, never set back. Default that of the process. */
  readonly elapsedMs?: () => number
}) {
  const { feed, random, lingerMs = LINGER_MS, elapsedMs = () => performance.now() } = deps
  let life = random.uuid()
  let seq = 0
  let kept: StoredEvents[] = []
  const members = new Set<Member>()
  let following: ReturnType<ChangeFeed['follow']> | null = null
  /** Where and when the stream began. */
  let first = { seq, at: 0 }
  let lingering: NodeJS.Timeout | undefined

  const placeOf = (at: number) => `${life}.${at}`
  const tell = (change: StoreChange | null) => {
    seq += 1
    kept.push({ seq, at: elapsedMs(), change })
    if (kept.length > KEPT_MAX) kept = kept.slice(-KEPT_MAX / 2)
    for (const { question, post } of members) {
      if (concerns(change, question)) post({ place: placeOf(seq), signal: signalOf(change) })
    }
  }
  const begin = () => {
    clearTimeout(lingering)
    if (following === null) first = { seq, at: elapsedMs() }
    following ??= feed.follow({
      changes: (batch) => {
        for (const change of batch) tell(change)
      },
      gap: () => tell(null),
    })
  }
  const end = async () => {
    clearTimeout(lingering)
    // Changes until the next subscription are not kept, so no position of this run may be trusted then.
    life = random.uuid()
    kept = []
    const ending = following
    following = null
    await ending?.stop()
  }

  /** The position before all that a new page may not have read; none that is known while the stream is younger than that. */
  const placeOfNew = (): string => {
    const since = elapsedMs() - READ_MS_MAX
    return first.at > since ? '' : placeOf(kept.findLast(({ at }) => at < since)?.seq ?? first.seq)
  }

  /** The changes that a page missed; null when that is unknown. */
  const missed = (lastPlace: string, question: LiveQuestion): readonly LiveEvent[] | null => {
    const [of, at] = lastPlace.split('.')
    const from = Number(at)
    const oldest = kept[0]?.seq ?? seq + 1
    if (of !== life || !Number.isSafeInteger(from) || from < oldest - 1 || from > seq) return null
    const since = kept.filter((entry) => entry.seq > from && concerns(entry.change, question))
    return since.length > UNREAD_MAX
      ? null
      : since.map((entry) => ({ place: placeOf(entry.seq), signal: signalOf(entry.change) }))
  }

  return {
    follow: (question: LiveQuestion): LiveFollower => {
      const box = createMailbox<LiveEvent>(UNREAD_MAX, () => ({ place: placeOf(seq), signal: ALL }))
      const member: Member = { question, post: box.post }
      begin()
      members.add(member)
      const place = question.lastPlace ?? placeOfNew()
      const since = missed(place, question)
      // A page without a position gets one at once: when its line is cut before the first change, it is behind from here on.
      if (since !== null && question.lastPlace === null) box.post({ place, signal: NONE })
      // A stream that has just begun tells everybody once it is active.
      const unknown = seq === first.seq ? [] : [{ place: placeOf(seq), signal: ALL }]
      for (const event of since ?? unknown) box.post(event)
      return {
        next: box.next,
        leave: () => {
          if (!members.delete(member) || members.size > 0) return
          lingering = setTimeout(() => void end(), lingerMs)
          lingering.unref()
        },
      }
    },

    /** Ends the stream of the store at once, when the process stops. */
    close: end,
  }
}

function concerns(change: StoreChange | null, { workspaceId, mode }: LiveQuestion): boolean {
  if (change === null) return true
  return change.workspaceId === workspaceId && (change.mode === null || change.mode === mode)
}

function signalOf(change: StoreChange | null): LiveSignal {
  return change === null ? ALL : { kind: change.kind, id: change.id, isNew: change.isNew }
}
