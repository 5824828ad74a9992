import { createInstanceReads } from '#shared/db/maintenance/installation-reads.ts'
import type { Installation } from '../session/installation.ts'

/** Heartbeats are written every 15 s; an older one belongs to a process that was killed. */
const HEARTBEAT_AGE_MAX_MS = 50_000

/** What Redis is to this installation; throws with the remedy when it is used and cannot be. */
export async function checkRedis({ redis, db, clock }: Installation): Promise<string> {
  if (redis !== null) {
    const answer = await redis.producer.config('GET', 'maxmemory-policy')
    const policy = Array.isArray(answer) ? String(answer[1]) : 'unknown'
    if (policy !== 'noeviction') throw new Error(`maxmemory-policy is ${policy}; set it to noeviction`)
    return 'reachable, noeviction'
  }
  const running = await createInstanceReads(db).processes(clock.now() - HEARTBEAT_AGE_MAX_MS)
  const users = [...new Set(running.map(({ name }) => name))].filter((name) => name !== 'serve').sort()
  if (users.length > 0)
    throw new Error(`REDIS_URL is not set here, but these processes use Redis: ${users.join(', ')}; set it as for them`)
  return 'not used: wake-ups stay in the memory of the one process'
}
