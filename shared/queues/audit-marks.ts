import type { AuditMarks } from '#shared/ports/audit-marks.ts'
import type { RedisConnections } from './connection.ts'

/** Numbers only increase, so that a slow writer cannot lower the mark. */
const RAISE_SCRIPT = `
if tonumber(ARGV[1]) > (tonumber(redis.call('GET', KEYS[1])) or 0) then redis.call('SET', KEYS[1], ARGV[1]) end
return 1`

/** The newest number of the audit log in Redis, without expiry; a Redis that does not answer names none. */
export function createAuditMarks(redis: Pick<RedisConnections, 'producer' | 'prefix'>): AuditMarks {
  const key = `${redis.prefix}:audit-mark`
  return {
    highest: async () => {
      const found = Number(await redis.producer.get(key).catch(() => null))
      return Number.isSafeInteger(found) && found > 0 ? found : null
    },
    raise: async (seq) => {
      await redis.producer.eval(RAISE_SCRIPT, 1, key, seq).catch(() => undefined)
    },
  }
}

/** Where one process runs everything there is no other place: no mark is ever named. */
export function createNoAuditMarks(): AuditMarks {
  return { highest: () => Promise.resolve(null), raise: () => Promise.resolve() }
}
