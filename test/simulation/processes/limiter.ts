import type { EpochStore } from '#shared/ports/epoch-store.ts'
import type { RateLimiter } from '#shared/ports/rate-limit.ts'
import type { Surroundings } from './surroundings.ts'

const MARKER_LIFE_MS = 30_000
const CACHE_LIFE_MS = 5_000

/** The rate limiter's script as far as it carries more than buckets: epochs and marks, in the simulated Redis. Nobody is refused. */
export function createSimLimiter({ sim, call }: Surroundings): RateLimiter {
  const { redis } = sim
  const allowed = { allowed: true, remaining: 60, resetAt: 0, retryAfter: 1 }
  const publish = (name: string, read: number | null): number | null => {
    const known = redis.epochs.get(name)
    if (read !== null && read > (known ?? -1)) redis.epochs.set(name, read)
    return redis.epochs.get(name) ?? null
  }
  return {
    admit: (request) =>
      call({
        what: 'redis.admit',
        latencyMs: redis.up ? 0.5 : 50,
        crash: sim.mix.crashPerRead,
        effect: () => {
          if (!redis.up) return { ...allowed, keyEpoch: null, workspaceEpoch: null, marker: 'unknown' as const }
          const keyEpoch = request.keyId === null ? null : publish(`key:${request.keyId}`, request.publish.keyEpoch)
          const workspaceEpoch =
            request.workspaceId === null
              ? null
              : publish(`workspace:${request.workspaceId}`, request.publish.workspaceEpoch)
          const { marker } = request
          if (marker === null) return { ...allowed, keyEpoch, workspaceEpoch, marker: 'none' as const }
          const running = redis.markers.get(marker.id)
          if (running !== undefined && running.until > sim.scheduler.now) {
            return { ...allowed, keyEpoch, workspaceEpoch, marker: 'busy' as const }
          }
          redis.markers.set(marker.id, { owner: marker.owner, until: sim.scheduler.now + MARKER_LIFE_MS })
          return { ...allowed, keyEpoch, workspaceEpoch, marker: 'set' as const }
        },
      }),
    clearMarker: ({ id, owner }) => {
      if (redis.up && redis.markers.get(id)?.owner === owner) redis.markers.delete(id)
    },
    peek: () => ({ remaining: 60, resetAt: 0 }),
  }
}

/** Epochs as an operator's command raises them; without Redis it waits until no cached record can be older. */
export function createSimEpochs({ sim, call }: Surroundings): EpochStore {
  const set = async (name: string, epoch: number): Promise<void> => {
    const written = await call({
      what: `redis.epoch ${name}`,
      latencyMs: 1,
      crash: sim.mix.crashPerWrite,
      effect: () => {
        if (sim.redis.up) sim.redis.epochs.set(name, Math.max(epoch, sim.redis.epochs.get(name) ?? 0))
        return sim.redis.up
      },
    })
    if (!written) await new Promise((resolve) => setTimeout(resolve, CACHE_LIFE_MS + 500))
  }
  return {
    setKeyEpoch: (id, epoch) => set(`key:${id}`, epoch),
    setWorkspaceEpoch: (id, epoch) => set(`workspace:${id}`, epoch),
  }
}
