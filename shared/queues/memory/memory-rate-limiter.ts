import type { EpochStore } from '#shared/ports/epoch-store.ts'
import type { RateLimiter } from '#shared/ports/rate-limit.ts'
import { createLocalBuckets } from '../local-buckets.ts'
import { standing } from '../rate-limiter.ts'

/** Epochs kept for each kind; the oldest is dropped first, and a missing one makes its record be read from the store again. */
const EPOCHS_MAX = 50_000

/** What the processes of an installation otherwise keep in Redis: buckets, epochs, and marks of running requests. */
export interface MemoryAdmission {
  readonly limiter: RateLimiter
  readonly epochs: EpochStore
}

/**
 * The limiter and the epochs of a process that serves every request itself: its own counts are exact. `now` gives milliseconds of
 * a monotonic clock since the Unix epoch. Another process on the same database uses a changed key or workspace until its cached
 * record expires, 5 s at most.
 */
export function createMemoryAdmission(now: () => number = monotonicNow): MemoryAdmission {
  const buckets = createLocalBuckets(now)
  const [keyEpochs, workspaceEpochs] = [createEpochs(), createEpochs()]
  /** Owner of each running idempotent operation. */
  const markers = new Map<string, string>()

  return {
    limiter: {
      admit: (request) => {
        const { keyId, workspaceId, publish, marker } = request
        const { allowed, untilFull, at } = buckets.take(request.bucket)
        if (allowed) {
          keyEpochs.raise(keyId, publish.keyEpoch)
          workspaceEpochs.raise(workspaceId, publish.workspaceEpoch)
        }
        const isBusy = marker !== null && markers.has(marker.id)
        if (allowed && marker !== null && !isBusy) markers.set(marker.id, marker.owner)
        return Promise.resolve({
          allowed,
          ...standing(untilFull, at),
          keyEpoch: keyEpochs.of(keyId),
          workspaceEpoch: workspaceEpochs.of(workspaceId),
          marker: !allowed || marker === null ? 'none' : isBusy ? 'busy' : 'set',
        })
      },
      clearMarker: ({ id, owner }) => {
        if (markers.get(id) === owner) markers.delete(id)
      },
      peek: buckets.peek,
    },
    epochs: {
      setKeyEpoch: (keyId, epoch) => Promise.resolve(keyEpochs.raise(keyId, epoch)),
      setWorkspaceEpoch: (workspaceId, epoch) => Promise.resolve(workspaceEpochs.raise(workspaceId, epoch)),
    },
  }
}

const monotonicNow = (): number => performance.timeOrigin + performance.now()

/** Epochs only increase, so that a slow request cannot make an outdated record valid again. */
function createEpochs() {
  const epochs = new Map<string, number>()
  return {
    of: (id: string | null): number | null => (id === null ? null : (epochs.get(id) ?? null)),
    raise: (id: string | null, epoch: number | null): void => {
      if (id === null || epoch === null || epoch <= (epochs.get(id) ?? -1)) return
      epochs.delete(id)
      epochs.set(id, epoch)
      const oldest = epochs.size > EPOCHS_MAX ? epochs.keys().next().value : undefined
      if (oldest !== undefined) epochs.delete(oldest)
    },
  }
}
