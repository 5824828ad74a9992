import type { RedisConnections } from './connection.ts'

/** State of the Redis server that this process uses. */
export interface RedisFigures {
  /** False for a replica, which takes no writes. */
  readonly isPrimary: boolean
  readonly usedBytes: number
  /** Null where no limit is set. */
  readonly maxBytes: number | null
}

/** Reads role and memory (`INFO`, sections replication and memory). Null while Redis does not answer, or does not say it. */
export async function redisFigures({ producer }: Pick<RedisConnections, 'producer'>): Promise<RedisFigures | null> {
  const [memory, replication] = await Promise.all([producer.info('memory'), producer.info('replication')]).catch(() => [
    '',
    '',
  ])
  const role = /^role:(\w+)/m.exec(replication)?.[1]
  const used = /^used_memory:(\d+)/m.exec(memory)?.[1]
  if (role === undefined || used === undefined) return null
  const max = Number(/^maxmemory:(\d+)/m.exec(memory)?.[1] ?? 0)
  return { isPrimary: role === 'master', usedBytes: Number(used), maxBytes: max === 0 ? null : max }
}
