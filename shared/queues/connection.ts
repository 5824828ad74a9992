import { Redis, type RedisOptions } from 'ioredis'
import type { Logger } from '#shared/ports/runtime.ts'

/** This process's connections to Redis. Redis is only for wake-ups and caching: every caller must work without it. */
export interface RedisConnections {
  /**
   * For short commands. Fails at once while Redis is unavailable and after 500 ms when it hangs: callers never wait for Redis.
   */
  readonly producer: Redis
  /** Prefix of every key, without the separating colon. */
  readonly prefix: string
  /** Opens a connection for blocking reads; it reconnects forever and is closed by `closeWorkerConnection` or `close`. */
  openWorkerConnection(): Redis
  closeWorkerConnection(connection: Redis): void
  /** True when Redis recently accepted a write; false before the first one. */
  isHealthy(): boolean
  /** Milliseconds since Redis stopped accepting writes; 0 while healthy. */
  unhealthyForMs(): number
  /** Resolves true as soon as Redis accepts a write, or false after `timeoutMs`; for start-up and tests. */
  waitUntilHealthy(timeoutMs: number): Promise<boolean>
  /** Drops every connection without waiting for responses, so it cannot hang. Safe to call twice. */
  close(): Promise<void>
}

export interface RedisConnectionOptions {
  readonly url: string
  readonly prefix: string
  readonly logger: Logger
}

const PROBE_EVERY_MS = 500
const PROBE_LIFE_MS = 10_000
const COMMAND_TIMEOUT_MS = 500

type Settings = Pick<RedisOptions, 'enableOfflineQueue' | 'maxRetriesPerRequest' | 'commandTimeout' | 'connectTimeout'>

const reconnect = {
  retryStrategy: (times: number) => Math.min(times * 50, 1_000),
  enableReadyCheck: true,
  disconnectTimeout: 100,
}

/** Starts connecting and returns at once; a process starts and works while Redis is down. */
export function connectRedis(options: RedisConnectionOptions): RedisConnections {
  const { url, prefix, logger } = options
  const workers = new Map<Redis, Set<Redis>>()
  const open = (settings: Settings): Redis => {
    const connection = new Redis(url, { ...reconnect, ...settings })
    // Without a listener ioredis prints to the console; the log contains the health transitions below instead.
    connection.on('error', () => undefined)
    return connection
  }
  const producer = open({
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: 2_000,
  })
  const health = watchHealth(producer, `${prefix}:health`, logger)

  return {
    producer,
    prefix,
    openWorkerConnection: () => {
      const connection = open({ maxRetriesPerRequest: null, connectTimeout: 2_000 })
      const family = new Set([connection])
      workers.set(connection, family)
      // BullMQ blocks on its own duplicate and may fail to close it while Redis is unavailable; then it is closed here.
      const duplicate = connection.duplicate.bind(connection)
      connection.duplicate = (overrides) => {
        const copy = duplicate(overrides)
        copy.on('error', () => undefined)
        family.add(copy)
        return copy
      }
      return connection
    },
    closeWorkerConnection: (connection) => {
      for (const member of workers.get(connection) ?? [connection]) member.disconnect()
      workers.delete(connection)
    },
    isHealthy: health.isHealthy,
    unhealthyForMs: health.unhealthyForMs,
    waitUntilHealthy: health.waitUntilHealthy,
    close: () => {
      health.stop()
      producer.disconnect()
      for (const family of workers.values()) for (const member of family) member.disconnect()
      workers.clear()
      return Promise.resolve()
    },
  }
}

/**
 * Writes once per half second. A stopped Redis keeps its sockets open and looks connected; a full one, or a replica after
 * a failover, still responds to a ping but refuses every wake-up, and must count as unavailable for the sweeps to take over.
 */
function watchHealth(producer: Redis, key: string, logger: Logger) {
  let unhealthySince: number | null = performance.now()
  let answered = false
  const waiters = new Set<(healthy: boolean) => void>()
  const set = (healthy: boolean): void => {
    if (healthy) {
      if (unhealthySince !== null && answered) logger.info({}, 'redis accepts writes again')
      answered = true
      unhealthySince = null
      for (const wake of waiters) wake(true)
      waiters.clear()
    } else if (unhealthySince === null) {
      unhealthySince = performance.now()
      logger.warn({}, 'redis accepts no writes')
    }
  }
  const probe = (): void => {
    if (producer.status !== 'ready') {
      set(false)
      return
    }
    producer.set(key, 1, 'PX', PROBE_LIFE_MS).then(
      () => set(true),
      () => set(false),
    )
  }
  producer.on('ready', probe)
  const gone = (): void => set(false)
  producer.on('close', gone)
  const timer = setInterval(probe, PROBE_EVERY_MS)
  timer.unref()

  return {
    isHealthy: () => unhealthySince === null && producer.status === 'ready',
    unhealthyForMs: () => (unhealthySince === null ? 0 : performance.now() - unhealthySince),
    waitUntilHealthy: (timeoutMs: number): Promise<boolean> => {
      if (unhealthySince === null) return Promise.resolve(true)
      return new Promise((resolve) => {
        const settle = (healthy: boolean): void => {
          clearTimeout(timeout)
          waiters.delete(settle)
          resolve(healthy)
        }
        const timeout = setTimeout(settle, timeoutMs, false)
        waiters.add(settle)
      })
    },
    stop: () => {
      clearInterval(timer)
      producer.off('close', gone)
      for (const settle of [...waiters]) settle(false)
    },
  }
}
