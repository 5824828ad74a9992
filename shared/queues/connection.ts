import { Redis, type RedisOptions } from 'ioredis'
import type { Logger } from '#shared/ports/runtime.ts'

/** This process's connections to Redis. Redis is a wake-up and a cache: every caller must do without it. */
export interface RedisConnections {
  /**
   * For short commands. Fails at once while Redis is away and after 500 ms when it hangs: no caller ever waits for Redis.
   */
  readonly producer: Redis
  /** Put in front of every key, without the separating colon. */
  readonly prefix: string
  /** Opens a connection for blocking reads; it reconnects for ever and is closed by `closeWorkerConnection` or `close`. */
  openWorkerConnection(): Redis
  closeWorkerConnection(connection: Redis): void
  /** True when Redis took a write lately; false before the first one. */
  isHealthy(): boolean
  /** Milliseconds since Redis stopped taking writes; 0 while healthy. */
  unhealthyForMs(): number
  /** Resolves true as soon as Redis takes a write, or false after `timeoutMs`; for start-up and tests. */
  waitUntilHealthy(timeoutMs: number): Promise<boolean>
  /** Drops every connection without waiting for answers, so it cannot hang. Safe to call twice. */
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

/** Starts connecting and returns at once; a process comes up and works with Redis down. */
export function connectRedis(options: RedisConnectionOptions): RedisConnections {
  const { url, prefix, logger } = options
  const workers = new Map<Redis, Set<Redis>>()
  const open = (settings: Settings): Redis => {
    const connection = new Redis(url, { ...reconnect, ...settings })
    // Without a listener ioredis prints to the console; the health transitions below are what we log.
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
      // BullMQ blocks on a duplicate of its own and may fail to close it while Redis is away; then we must.
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
 * a failover, still answers a ping but refuses every wake-up, and must count as away for the sweeps to step in.
 */
function watchHealth(producer: Redis, key: string, logger: Logger) {
  let unhealthySince: number | null = performance.now()
  let answered = false
  const waiters = new Set<(healthy: boolean) => void>()
  const set = (healthy: boolean): void => {
    if (healthy) {
      if (unhealthySince !== null && answered) logger.info({}, 'redis takes writes again')
      answered = true
      unhealthySince = null
      for (const wake of waiters) wake(true)
      waiters.clear()
    } else if (unhealthySince === null) {
      unhealthySince = performance.now()
      logger.warn({}, 'redis takes no writes')
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
