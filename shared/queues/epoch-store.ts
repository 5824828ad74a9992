import type { EpochStore } from '#shared/ports/epoch-store.ts'
import type { RedisConnections } from './connection.ts'
import { EPOCH_LIFE_MS, epochKey } from './rate-limiter.ts'

/** Epochs only increase, so a slow writer cannot make an outdated record valid again. */
const RAISE_SCRIPT = `
if tonumber(ARGV[1]) > (tonumber(redis.call('GET', KEYS[1])) or -1) then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return 1`

/** Longest life of a cached key or workspace record in any process. */
const CACHE_LIFE_MS = 5_000

/** Publishes epochs where no Redis spreads them: resolves when no process can use the old record any more, after 5 s. */
export function createWaitingEpochStore(wait: (ms: number) => Promise<void> = delay): EpochStore {
  const raise = () => wait(CACHE_LIFE_MS)
  return { setKeyEpoch: raise, setWorkspaceEpoch: raise }
}

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Publishes epochs. Resolves when no process can use the old record any more: at once with Redis, and without it
 * after the longest life of a cached record, because every process then reads the store.
 */
export function createEpochStore(redis: RedisConnections, wait: (ms: number) => Promise<void> = delay): EpochStore {
  async function raise(key: string, epoch: number): Promise<void> {
    try {
      await redis.producer.eval(RAISE_SCRIPT, 1, key, epoch, EPOCH_LIFE_MS)
    } catch {
      await wait(CACHE_LIFE_MS)
    }
  }
  return {
    setKeyEpoch: (keyId, epoch) => raise(epochKey(redis.prefix, 'key', keyId), epoch),
    setWorkspaceEpoch: (workspaceId, epoch) => raise(epochKey(redis.prefix, 'workspace', workspaceId), epoch),
  }
}
