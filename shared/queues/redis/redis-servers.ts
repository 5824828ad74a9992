import { Cluster } from 'ioredis'
import type { RedisClient } from './redis-client.ts'

/** What a Redis server says of itself; null where it does not, or may not. */
export interface RedisServer {
  readonly version: string | null
  readonly evictionPolicy: string | null
}

/**
 * The server, or each primary of a cluster. They are read by `INFO`, which managed servers permit where they forbid `CONFIG`; of one that permits
 * neither nothing is known, which is no fault. Rejects when a server does not answer.
 */
export async function readRedisServers({
  producer,
}: {
  readonly producer: RedisClient
}): Promise<readonly RedisServer[]> {
  const nodes = producer instanceof Cluster ? producer.nodes('master') : [producer]
  return await Promise.all(nodes.map(async (node) => serverOf(await node.info().catch(unlessForbidden))))
}

function unlessForbidden(error: unknown): string {
  if (error instanceof Error && /^(NOPERM|ERR unknown command)/i.test(error.message)) return ''
  throw error
}

function serverOf(info: string): RedisServer {
  const fields = new Map(
    info.split('\r\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  )
  return { version: fields.get('redis_version') ?? null, evictionPolicy: fields.get('maxmemory_policy') ?? null }
}
