import { Cluster } from 'ioredis'
import type { RedisClient } from './redis-client.ts'

/** What a Redis server says of itself; null where it does not, or may not. */
export interface RedisServer {
  readonly version: string | null
  readonly evictionPolicy: string | null
  /** Null where it does not say its role or its memory. */
  readonly figures: RedisFigures | null
}

/** State of a Redis server. */
export interface RedisFigures {
  /** False for a replica, which takes no writes. */
  readonly isPrimary: boolean
  readonly usedBytes: number
  /** Null where no limit is set. */
  readonly maxBytes: number | null
}

/** The figures of the server, of a cluster those of the primary that is fullest; null while one does not answer, or does not say it. */
export async function readRedisFigures(redis: { readonly producer: RedisClient }): Promise<RedisFigures | null> {
  const servers = await readRedisServers(redis).catch(() => [])
  const figures = servers.flatMap((server) => server.figures ?? [])
  const share = ({ usedBytes, maxBytes }: RedisFigures): number => usedBytes / (maxBytes ?? Number.POSITIVE_INFINITY)
  return figures.length < servers.length
    ? null
    : (figures.toSorted((one, other) => share(other) - share(one))[0] ?? null)
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
  const [role, used] = [fields.get('role'), fields.get('used_memory')]
  const max = Number(fields.get('maxmemory') ?? 0)
  return {
    version: fields.get('redis_version') ?? null,
    evictionPolicy: fields.get('maxmemory_policy') ?? null,
    figures:
      role === undefined || used === undefined
        ? null
        : { isPrimary: role === 'master', usedBytes: Number(used), maxBytes: max === 0 ? null : max },
  }
}
