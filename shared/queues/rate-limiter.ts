import { createHash } from 'node:crypto'
import {
  type Admission,
  type AdmissionRequest,
  RATE_BURST,
  type RateLimiter,
  TOKEN_INTERVAL_MS,
} from '#shared/ports/rate-limit.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'
import { createLocalBuckets, type LocalBuckets, standing } from './local-buckets.ts'

/*
 * One round trip per request: a token bucket stored as the time at which it is full again (GCRA), the epochs that
 * outdate cached records, and the marker of a running idempotent operation. Time is Redis's own, so processes agree.
 * Losing Redis loses fairness between processes and the 409 for concurrent duplicates, never a guard: those are in MongoDB.
 */
const ADMIT_SCRIPT = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local found = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3])
local interval = tonumber(ARGV[1])
local full = tonumber(found[1]) or 0
local empty = interval * tonumber(ARGV[2])
if full < now or full > now + empty then full = now end
if full + interval - now > empty then
  return {0, full - now, found[2], found[3], 0}
end
full = full + interval
redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', full - now)
for i = 2, 3 do
  local known = tonumber(ARGV[i + 1])
  if known and known > (tonumber(found[i]) or -1) then
    redis.call('SET', KEYS[i], ARGV[i + 1], 'PX', ARGV[5])
    found[i] = ARGV[i + 1]
  end
end
local marker = 0
if ARGV[6] ~= '' then
  if redis.call('SET', KEYS[4], ARGV[6], 'NX', 'PX', ARGV[7]) then marker = 1 else marker = 2 end
end
return {1, full - now, found[2], found[3], marker}`

const CLEAR_SCRIPT = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`

/** Time without a response of Redis after which the in-process bucket decides. A Redis that is slow but responds to others is awaited. */
const SILENCE_MS = 50
/** Pause before Redis is called again after it did not respond. */
const PAUSE_AFTER_SILENCE_MS = 500
const RENEW_SCRIPT = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`

/** Life of the marker of a dead process; a running request renews its marker, so that a longer one keeps it. */
const MARKER_LIFE_MS = 5_000
const MARKER_RENEW_MS = 1_500
/** Epochs are read again from the store once a day. */
export const EPOCH_LIFE_MS = 86_400_000
const MARKER_STATES = ['none', 'set', 'busy'] as const

/** Keys of the epochs of keys and workspaces; shared with the store that raises them. */
export function epochKey(prefix: string, kind: 'key' | 'workspace', id: string): string {
  return `${prefix}:epoch:${kind}:${id}`
}

interface RateLimiterDeps {
  readonly redis: RedisConnections
  readonly metrics: Metrics
  /** Milliseconds of any monotonic clock; only differences matter. */
  readonly now?: () => number
}

/** The limiter on Redis with an in-process bucket as fallback. It never throws and never waits longer than about 50 ms. */
export function createRateLimiter({ redis, metrics, now = Date.now }: RateLimiterDeps): RateLimiter {
  const { producer, prefix } = redis
  const local = createLocalBuckets(now)
  const admitScript = scriptRunner(redis, ADMIT_SCRIPT)
  const clearScript = scriptRunner(redis, CLEAR_SCRIPT)
  const held = holdMarkers(scriptRunner(redis, RENEW_SCRIPT), prefix)
  const answers = createAnswerWatch(now)
  let silentUntil = 0

  function admitLocally(request: AdmissionRequest, marker: 'none' | 'unknown'): Admission {
    metrics.count('rate_limit_local_total')
    const { allowed, untilFull, at } = local.take(request.bucket)
    return { allowed, ...standing(untilFull, at), keyEpoch: null, workspaceEpoch: null, marker }
  }

  return {
    async admit(request) {
      if (redis.isHealthy() && now() >= silentUntil) {
        const answer = await answers.unlessSilent(admitScript(...scriptInput(prefix, request)))
        if (answer !== null) {
          const admission = readAnswer(answer, request, local, now())
          if (admission.marker === 'set' && request.marker !== null) held.add(request.marker)
          return admission
        }
        silentUntil = now() + PAUSE_AFTER_SILENCE_MS
        return admitLocally(request, unconfirmedMark(request))
      }
      return admitLocally(request, 'none')
    },
    clearMarker(marker) {
      held.remove(marker)
      if (producer.status !== 'ready') return
      clearScript([`${prefix}:running:${marker.id}`], [marker.owner]).catch(() => undefined)
    },
    peek: (bucket) => local.peek(bucket),
  }
}

type Marker = NonNullable<AdmissionRequest['marker']>

/** Renews the markers of requests that run longer than the renewal interval; the many short ones cost no command. */
function holdMarkers(renewScript: ScriptRunner, prefix: string) {
  const held = new Map<string, string>()
  let timer: NodeJS.Timeout | null = null
  let known: readonly string[] = []
  const round = (): void => {
    // Markers of the previous round: newer ones have most of their life left.
    for (const id of known) {
      const owner = held.get(id)
      if (owner !== undefined) {
        renewScript([`${prefix}:running:${id}`], [owner, MARKER_LIFE_MS]).catch(() => undefined)
      }
    }
    known = [...held.keys()]
    if (held.size === 0 && timer !== null) {
      clearInterval(timer)
      timer = null
    }
  }
  return {
    add: ({ id, owner }: Marker): void => {
      held.set(id, owner)
      timer ??= setInterval(round, MARKER_RENEW_MS).unref()
    },
    remove: ({ id, owner }: Marker): void => {
      if (held.get(id) === owner) held.delete(id)
    },
  }
}

type ScriptRunner = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>

/**
 * Runs by digest; a Redis that lost its scripts (restart, flush) gets the text once. Calls of one turn of the event
 * loop are sent in one write, because the system call costs more than the command. A lone call makes no pipeline: ioredis copies
 * each of its commands, and each script of BullMQ, onto every new one.
 */
function scriptRunner({ producer }: RedisConnections, script: string): ScriptRunner {
  const digest = createHash('sha1').update(script).digest('hex')
  let batch: {
    readonly text: readonly [number, ...(string | number)[]]
    readonly settle: (error: unknown, value: unknown) => void
  }[] = []

  function send(): void {
    const sent = batch
    batch = []
    const [lone] = sent
    if (lone !== undefined && sent.length === 1) {
      producer.evalsha(digest, ...lone.text).then(
        (value) => lone.settle(null, value),
        (error: unknown) => lone.settle(error, null),
      )
      return
    }
    const pipeline = producer.pipeline(sent.map(({ text }) => ['evalsha', digest, ...text]))
    pipeline.exec().then(
      (answers) => {
        for (const [index, { settle }] of sent.entries()) settle(answers?.[index]?.[0] ?? null, answers?.[index]?.[1])
      },
      (error: unknown) => {
        for (const { settle } of sent) settle(error, null)
      },
    )
  }

  return async (keys, args) => {
    const text = [keys.length, ...keys, ...args] as const
    try {
      return await new Promise((resolve, reject) => {
        if (batch.length === 0) setImmediate(send)
        batch.push({ text, settle: (error, value) => (error ? reject(error) : resolve(value)) })
      })
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return await producer.eval(script, keys.length, ...keys, ...args)
    }
  }
}

function scriptInput(prefix: string, request: AdmissionRequest): Parameters<ScriptRunner> {
  const { keyId, workspaceId, marker, publish } = request
  return [
    [
      `${prefix}:rate:${request.bucket}`,
      epochKey(prefix, 'key', keyId ?? '-'),
      epochKey(prefix, 'workspace', workspaceId ?? '-'),
      `${prefix}:running:${marker?.id ?? '-'}`,
    ],
    [
      TOKEN_INTERVAL_MS,
      RATE_BURST,
      publish.keyEpoch ?? '',
      publish.workspaceEpoch ?? '',
      EPOCH_LIFE_MS,
      marker?.owner ?? '',
      MARKER_LIFE_MS,
    ],
  ]
}

/** The state of a mark that Redis was asked to set, when it did not say whether it did. */
const unconfirmedMark = ({ marker }: AdmissionRequest): 'none' | 'unknown' => (marker === null ? 'none' : 'unknown')

function readAnswer(answer: unknown, request: AdmissionRequest, local: LocalBuckets, at: number): Admission {
  if (!Array.isArray(answer))
    return { ...standing(0, at), allowed: true, keyEpoch: null, workspaceEpoch: null, marker: unconfirmedMark(request) }
  const [allowed, untilFull, keyEpoch, workspaceEpoch, marker] = answer as unknown[]
  // When Redis stops responding, the bucket in this process continues from here, instead of granting a second burst.
  local.learn(request.bucket, Number(untilFull))
  return {
    allowed: allowed === 1,
    ...standing(Number(untilFull), at),
    keyEpoch: request.keyId !== null && typeof keyEpoch === 'string' ? Number(keyEpoch) : null,
    workspaceEpoch: request.workspaceId !== null && typeof workspaceEpoch === 'string' ? Number(workspaceEpoch) : null,
    marker: MARKER_STATES[Number(marker)] ?? 'none',
  }
}

/**
 * Distinguishes a silent Redis from a busy process: a response is only given up when none at all arrived during the last
 * 50 ms and the process's timers were on time. Otherwise the command time-out of the connection applies.
 */
function createAnswerWatch(now: () => number) {
  let answeredAt = Number.NEGATIVE_INFINITY

  /** The response, or null when Redis is silent or the command failed. */
  function unlessSilent<T>(answer: Promise<T>): Promise<T | null> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout
      const arm = (): void => {
        const armedAt = now()
        timer = setTimeout(() => {
          const isLate = now() - armedAt > 2 * SILENCE_MS
          if (isLate || now() - answeredAt < SILENCE_MS) arm()
          // Sockets are handled after timers: responses already waiting there still count.
          else setImmediate(resolve, null)
        }, SILENCE_MS)
      }
      arm()
      answer.then(
        (value) => {
          answeredAt = now()
          clearTimeout(timer)
          resolve(value)
        },
        () => {
          clearTimeout(timer)
          resolve(null)
        },
      )
    })
  }
  return { unlessSilent }
}
