import type { Logger } from '#shared/ports/runtime.ts'
import type { RedisClient } from './redis-client.ts'
import { redisFault } from './redis-fault.ts'
import type { RedisProbe } from './redis-probe.ts'

/** Whether Redis does the work of the queues now. */
export interface RedisHealth {
  isHealthy(): boolean
  /** Milliseconds since it stopped; 0 while healthy. */
  unhealthyForMs(): number
  /** Why it does not, as the rest of a sentence that begins with "Redis"; null while healthy. */
  fault(): string | null
  /** Resolves true as soon as it does, or false after `timeoutMs`. */
  waitUntilHealthy(timeoutMs: number): Promise<boolean>
  stop(): void
}

const PROBE_EVERY_MS = 500
/** Probes that Redis took and did not deliver, in a row: counted, so that a process that stood still accuses nobody. */
const UNDELIVERED_MAX = 4
/** Every command is tried at first, after a fault, and in each so many probes: permissions change rarely. */
const WHOLE_EVERY = 20
/** Probes without an answer or a delivery after which every socket counts as dead. */
const RECONNECT_AFTER = 6
const READ_AGAIN_MS = 500

const UNDELIVERED =
  'takes what is written and delivers none of it: a blocking read (BZPOPMIN) of the same keys stays without an answer'

interface WatchedConnections {
  readonly producer: RedisClient
  readonly reader: RedisClient
  /** Opens every connection of the process again, because their server may be gone without a word. */
  reconnect(): void
}

/**
 * Twice a second runs what a wake-up runs: a script over several keys of the installation, then the blocking read that receives it. A Redis that
 * answers to a ping and is full, a replica, a cluster without the slot, or that permits a part of the commands, is unhealthy within
 * three seconds, and the sweeps take over. `reader` is used for nothing else.
 */
export function watchRedisHealth(
  { producer, reader, reconnect }: WatchedConnections,
  probe: RedisProbe,
  logger: Logger,
): RedisHealth {
  const state = createState(logger, () => producer.status === 'ready')
  let connectionFault: unknown = new Error('not connected yet')
  let readFault: unknown = null
  let probes = 0
  let undelivered = 0
  let isDelivered = false
  let isAccepted = false
  let silent = 0
  let isProbing = false
  let stopped = false

  const fail = (text: string, isSilent: boolean): void => {
    isAccepted = false
    isDelivered = false
    state.set(text)
    silent = isSilent ? silent + 1 : 0
    if (silent === 0 || silent % RECONNECT_AFTER > 0) return
    reconnect()
  }
  const settle = (): void => {
    if (!isAccepted || !isDelivered) return
    silent = 0
    state.set(null)
  }
  const look = async (): Promise<void> => {
    if (producer.status !== 'ready') return fail(redisFault(connectionFault), false)
    try {
      await probe.wake(producer, state.fault() !== null || probes % WHOLE_EVERY === 0)
    } catch (error) {
      return fail(redisFault(error), isSilence(error))
    }
    probes += 1
    undelivered += 1
    isAccepted = true
    if (undelivered > UNDELIVERED_MAX) fail(readFault === null ? UNDELIVERED : redisFault(readFault), true)
    else settle()
  }
  const lookOnce = (): void => {
    if (isProbing || stopped) return
    isProbing = true
    void look().finally(() => {
      isProbing = false
    })
  }
  producer.on('error', (error: unknown) => {
    connectionFault = error
  })
  producer.on('ready', lookOnce)
  const gone = (): void => fail(redisFault(connectionFault), false)
  producer.on('close', gone)
  const timer = setInterval(lookOnce, PROBE_EVERY_MS)
  timer.unref()
  void readForever(reader, probe, {
    isStopped: () => stopped,
    received: () => {
      undelivered = 0
      isDelivered = true
      settle()
    },
    failed: (error) => {
      readFault = error
    },
  })
  return {
    ...state,
    stop: () => {
      stopped = true
      clearInterval(timer)
      producer.off('close', gone)
      state.giveUp()
    },
  }
}

/** Receives what the probe wrote, again and again; a failure is reported, and a completed read as a failure of null. */
async function readForever(
  reader: RedisClient,
  probe: RedisProbe,
  on: { isStopped(): boolean; received(): void; failed(error: unknown): void },
): Promise<void> {
  while (!on.isStopped()) {
    try {
      const isReceived = await probe.receive(reader)
      on.failed(null)
      if (isReceived) on.received()
    } catch (error) {
      on.failed(error)
      await new Promise((resolve) => setTimeout(resolve, READ_AGAIN_MS).unref())
    }
  }
}

const isSilence = (error: unknown): boolean => error instanceof Error && /timed out|closed/i.test(error.message)

/** The fault, since when it is there, and those who wait for its end. */
function createState(logger: Logger, isConnected: () => boolean) {
  let fault: string | null = 'is not connected yet'
  let since = performance.now()
  let wasHealthy = false
  const waiters = new Set<(healthy: boolean) => void>()
  return {
    set: (next: string | null): void => {
      if (next === null) {
        if (fault !== null && wasHealthy) logger.info({}, 'redis does its work again')
        wasHealthy = true
        for (const wake of [...waiters]) wake(true)
      } else if (fault === null) {
        since = performance.now()
        logger.warn({ fault: next }, 'redis does not do its work')
      }
      fault = next
    },
    fault: () => fault,
    isHealthy: () => fault === null && isConnected(),
    unhealthyForMs: () => (fault === null ? 0 : performance.now() - since),
    waitUntilHealthy: (timeoutMs: number): Promise<boolean> => {
      if (fault === null) return Promise.resolve(true)
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
    giveUp: (): void => {
      for (const settle of [...waiters]) settle(false)
    },
  }
}
