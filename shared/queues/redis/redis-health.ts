import { errorText } from '#shared/contracts/error-text.ts'
import type { Logger } from '#shared/ports/runtime.ts'
import type { RedisClient } from './redis-client.ts'
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
  let connectionFault: unknown = new Error('no connection')
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
      await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS).unref())
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

/** What a reply or a failed connection means for an operator, and what to do. The first that matches counts. */
const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [
    /^(READONLY|UNBLOCKED)/,
    'is a read-only replica: REDIS_URL must lead to the primary, or name Sentinels with redis+sentinel://',
  ],
  [
    /^OOM/,
    'is full: it has reached maxmemory and refuses every write; raise maxmemory, or find what else is stored there',
  ],
  [/^MISCONF/, 'refuses every write because it cannot write to its disk'],
  [/^NOREPLICAS/, 'refuses every write because too few replicas are connected (min-replicas-to-write)'],
  [/^MASTERDOWN/, 'is a replica that lost its primary'],
  [/^LOADING/, 'is still loading its data'],
  [/^BUSY/, 'is busy with a script that does not end: SCRIPT KILL'],
  [/^(MOVED|ASK|CROSSSLOT)/, 'is a node of a cluster: use redis+cluster:// in REDIS_URL'],
  [/cluster support disabled/, 'is no cluster: use redis:// or redis+sentinel:// in REDIS_URL'],
  [
    /CLUSTERDOWN|slot is not served|too many cluster redirections/i,
    "has no node for the keys of this installation: a part of the cluster's slots is down",
  ],
  [/^NOAUTH/, 'wants a password: REDIS_URL has none'],
  [/^(WRONGPASS|ERR invalid password|ERR AUTH|ERR Client sent AUTH)/, 'refuses the user or password of REDIS_URL'],
  [
    /^NOPERM|^ERR The user executing the script/,
    'does not let its user do all that the queues need: allow the keys {prefix}:* and the commands of deploy/README.md',
  ],
  [/^(ERR unknown command|ERR This Redis command|NOSCRIPT)/i, 'does not run a command or script that the queues need'],
  [
    /connect ETIMEDOUT/,
    'does not complete a connection in time: is the address right, and does its port speak TLS if, and only if, REDIS_URL begins with rediss?',
  ],
  [/timed out|ETIMEDOUT/i, 'does not answer in time'],
  [
    /All sentinels are unreachable/,
    'cannot be found: no Sentinel answers, or none of them watches a primary of that name',
  ],
  [/ECONNREFUSED/, 'refuses the connection'],
  // A server that ends a connection in order leaves no error.
  [/^no connection$/, 'is not connected: none was made yet, or the server ended it'],
  [/ENOTFOUND|EAI_AGAIN/, 'has no address: its name cannot be resolved'],
  [/CERT_HAS_EXPIRED/, 'has a certificate that has expired: replace it on the server'],
  [/ALTNAME_INVALID/, 'has a certificate for another name than the one in REDIS_URL'],
  [
    /certificate|self-signed|CERT_/i,
    'has a certificate that is not trusted: name the file of its authority with ?tlsCAFile=',
  ],
  [/wrong version number|SSL|EPROTO/, 'ends the connection: one side speaks TLS (rediss://) and the other does not'],
  // The refusal itself (`ERR max number of clients reached`) seldom comes in front of the end of the connection.
  [
    /max number of clients|ECONNRESET|EPIPE/,
    'ends each connection at once: it has as many clients as it takes (maxclients), or one side speaks TLS (rediss://) and the other does not',
  ],
]

const DETAIL_MAX = 200

/**
 * Why Redis cannot do the work of the queues, as the rest of a sentence about it. Names no password: replies of Redis hold none, and
 * the commands that the library attaches to an error are left out.
 */
function redisFault(error: unknown): string {
  const message = messageOf(error)
  const known = SENTENCES.find(([pattern]) => pattern.test(message))
  const detail = message.slice(0, DETAIL_MAX)
  return known === undefined ? `answers with an error (${detail})` : `${known[1]} (${detail})`
}

/** A cluster wraps what its last node said, a transaction the replies to its commands. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return errorText(error)
  if ('lastNodeError' in error && error.lastNodeError instanceof Error) return messageOf(error.lastNodeError)
  if ('previousErrors' in error && Array.isArray(error.previousErrors) && error.previousErrors[0] instanceof Error)
    return messageOf(error.previousErrors[0])
  return errorText(error)
}
