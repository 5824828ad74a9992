import { createInstanceReads } from '#shared/db/maintenance/installation-reads.ts'
import { classifyVersion } from '#shared/domain/store-versions.ts'
import { readRedisServers } from '#shared/queues/redis/redis-servers.ts'
import type { Installation } from '../session/installation.ts'

/** Heartbeats are written every 15 s; an older one belongs to a process that was killed. */
const HEARTBEAT_AGE_MAX_MS = 50_000

/**
 * What Redis is to this installation: whether it did the work of the queues just now, its version and its policy for a full memory. What the server
 * does not say is a remark. Throws with the cause or the remedy when Redis is used and cannot be.
 */
export async function checkRedis({ redis, db, clock }: Pick<Installation, 'redis' | 'db' | 'clock'>): Promise<string> {
  if (redis !== null) return await checkUsedRedis(redis)
  const running = await createInstanceReads(db).processes(clock.now() - HEARTBEAT_AGE_MAX_MS)
  const users = [...new Set(running.map(({ name }) => name))].filter((name) => name !== 'serve').sort()
  if (users.length > 0)
    throw new Error(`REDIS_URL is not set here, but these processes use Redis: ${users.join(', ')}; set it as for them`)
  return 'not used: wake-ups stay in the memory of the one process'
}

async function checkUsedRedis(redis: NonNullable<Installation['redis']>): Promise<string> {
  const fault = redis.fault()
  if (fault !== null) throw new Error(`Redis ${fault}`)
  const servers = await readRedisServers(redis)
  const remarks = new Set<string>()
  for (const { version, evictionPolicy } of servers) {
    const found = classifyVersion('Redis', version)
    if (found.fault !== null) throw new Error(found.fault)
    if (found.remark !== null) remarks.add(version === null ? found.remark : `Redis ${version} is ${found.remark}`)
    if (evictionPolicy === null) remarks.add('maxmemory-policy cannot be read here: see to it that it is noeviction')
    else if (evictionPolicy !== 'noeviction')
      throw new Error(`maxmemory-policy is ${evictionPolicy}; set it to noeviction`)
  }
  const known = servers.every(({ evictionPolicy }) => evictionPolicy !== null) ? ', noeviction' : ''
  return [`takes and delivers wake-ups${known}`, ...[...remarks].map((remark) => `remark: ${remark}`)].join('; ')
}
