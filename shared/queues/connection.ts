import { randomUUID } from 'node:crypto'
import { parseRedisUrl } from '#shared/contracts/redis-url.ts'
import type { Logger } from '#shared/ports/runtime.ts'
import { type RedisClient, redisOpener } from './redis/redis-client.ts'
import { watchRedisHealth } from './redis/redis-health.ts'
import { createRedisProbe } from './redis/redis-probe.ts'

/** This process's connections to Redis. Redis is only for wake-ups and caching: every caller must work without it. */
export type RedisConnections = ReturnType<typeof connectRedis>

export interface RedisConnectionOptions {
  /** In one of the forms of `parseRedisUrl`. */
  readonly url: string
  /** `PAYMESH_REDIS_PREFIX`. */
  readonly prefix: string
  readonly logger: Logger
}

const COMMAND_TIMEOUT_MS = 500
const CONNECT_TIMEOUT_MS = 2_000
const PATIENT = { maxRetriesPerRequest: null, connectTimeout: CONNECT_TIMEOUT_MS }

/** The part of every key in front of its colon: in braces, because a cluster places a key by what stands in them. */
export const redisKeyPrefix = (prefix: string): string => `{${prefix}}`

/**
 * Starts connecting and returns at once; a process starts and works while Redis is down.
 *
 * @throws when the URL or a certificate that it names cannot be read.
 */
export function connectRedis(options: RedisConnectionOptions) {
  const prefix = redisKeyPrefix(options.prefix)
  const open = redisOpener(parseRedisUrl(options.url))
  const workers = new Map<RedisClient, Set<RedisClient>>()
  const producer = open({
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
  })
  const reader = open(PATIENT)
  const all = (): readonly RedisClient[] => [
    producer,
    reader,
    ...[...workers.values()].flatMap((family) => [...family]),
  ]
  const reconnect = (): void => {
    // Only open connections: ioredis never reconnects one that is ended while it is being opened (bullmq#4378).
    for (const client of all()) if (client.status === 'ready') client.disconnect(true)
  }
  const { stop, ...health } = watchRedisHealth(
    { producer, reader, reconnect },
    createRedisProbe(prefix, randomUUID()),
    options.logger,
  )

  return {
    /**
     * For short commands. Fails at once while Redis is unavailable and after 500 ms when it hangs (2 s over a cluster): callers never wait for Redis.
     */
    producer,
    /** Prefix of every key, without the separating colon: a hash tag, so that a cluster keeps all keys of an installation on one node. */
    prefix,
    /** Opens a connection for blocking reads; it reconnects forever and is closed by `closeWorkerConnection` or `close`. */
    openWorkerConnection: () => {
      const connection = open(PATIENT)
      const family = new Set([connection])
      workers.set(connection, family)
      rememberDuplicates(connection, family)
      return connection
    },
    closeWorkerConnection: (connection: RedisClient) => {
      for (const member of workers.get(connection) ?? [connection]) member.disconnect()
      workers.delete(connection)
    },
    ...health,
    /** Drops every connection without waiting for responses, so it cannot hang. Safe to call twice. */
    close: () => {
      stop()
      for (const client of all()) client.disconnect()
      workers.clear()
      return Promise.resolve()
    },
  }
}

/** BullMQ blocks on its own duplicate and may fail to close it while Redis is unavailable; then it is closed with its family. */
function rememberDuplicates(connection: RedisClient, family: Set<RedisClient>): void {
  const remember = (copy: RedisClient): void => {
    copy.on('error', () => undefined)
    family.add(copy)
  }
  if ('nodes' in connection) {
    const duplicate = connection.duplicate.bind(connection)
    connection.duplicate = (...overrides) => {
      const copy = duplicate(...overrides)
      remember(copy)
      return copy
    }
  } else {
    const duplicate = connection.duplicate.bind(connection)
    connection.duplicate = (...overrides) => {
      const copy = duplicate(...overrides)
      remember(copy)
      return copy
    }
  }
}
