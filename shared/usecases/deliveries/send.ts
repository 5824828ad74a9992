import { createHmac } from 'node:crypto'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import { retryDelayMs } from '#shared/domain/webhook/schedule.ts'
import type { Delivery, DeliveryOutcome } from '#shared/ports/deliveries.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import { QUEUES, type Runtime } from '#shared/ports/runtime.ts'
import type { HttpOut, HttpPhases, HttpResult } from '#shared/ports/webhook-http.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** One total deadline for name look-up, connect, TLS, headers and body (specification §6). */
const TIMEOUT_MS = 10_000
/** Bytes of a response that are read at most, and bytes of them that are stored. */
const READ_BYTES = 16_384
const KEEP_CHARS = 4_096

export type SendDeliveryDeps = Uses<'clock'> & {
  readonly http: HttpOut
  /** The server setting that allows `http://localhost:<port>` for endpoints that receive test events only. */
  readonly allowLocalhost: boolean
}

export interface ClaimedDelivery {
  readonly delivery: Delivery
  readonly event: EventRecord
  readonly endpoint: WebhookEndpoint
  /** Opened secrets, current first. */
  readonly secrets: readonly string[]
  readonly leaseToken: string
}

/** Outcome of one request; null when this process is stopping and cut the request off, which counts as not sent. */
interface SentDelivery {
  readonly outcome: DeliveryOutcome
  readonly durationMs: number
}

/** Signs a claimed delivery with the current time and sends it once. Any 2xx is success; everything else is a failure, redirects included. */
export async function sendDelivery(deps: SendDeliveryDeps, claimed: ClaimedDelivery): Promise<SentDelivery | null> {
  const { delivery, event, endpoint } = claimed
  const at = deps.clock.now()
  const headers = signDelivery({
    deliveryId: delivery.id,
    eventId: event.id,
    eventType: event.type,
    body: event.body,
    timestampS: Math.floor(at / 1_000),
    secrets: claimed.secrets,
  })
  const result = await deps.http.post({
    url: endpoint.url,
    headers,
    body: event.body,
    timeoutMs: TIMEOUT_MS,
    maxResponseBytes: READ_BYTES,
    allowLocalhost: deps.allowLocalhost && endpoint.mode === 'test',
  })
  const error = faultOf(result)
  if (error === 'stopped') return null
  const number = delivery.attempt + 1
  const retryAfterMs = error === null ? null : retryDelayMs(number)
  return {
    outcome: {
      deliveryId: delivery.id,
      leaseToken: claimed.leaseToken,
      result: error === null ? 'succeeded' : retryAfterMs === null ? 'failed' : 'retry',
      retryAfterMs,
      attempt: {
        number,
        at,
        durationMs: Math.round(result.durationMs),
        statusCode: result.outcome === 'answered' ? result.status : null,
        error,
        ip: result.ip,
        phases: inWholeMs(result.phases),
        responseBody: result.outcome === 'answered' ? result.body.slice(0, KEEP_CHARS) : '',
      },
    },
    durationMs: result.durationMs,
  }
}

function faultOf(result: HttpResult): string | null {
  if (result.outcome === 'failed') return result.error
  return result.status >= 200 && result.status <= 299 ? null : `status_${result.status}`
}

function inWholeMs({ dnsMs, connectMs, tlsMs, firstByteMs }: HttpPhases): HttpPhases {
  const whole = (ms: number | null) => (ms === null ? null : Math.round(ms))
  return { dnsMs: whole(dnsMs), connectMs: whole(connectMs), tlsMs: whole(tlsMs), firstByteMs: whole(firstByteMs) }
}

/** Fixed agent string of every delivery (specification §6). */
const USER_AGENT = 'Paymesh-Webhooks/1.0'
const SECRET_PREFIX = 'whsec_'

export interface DeliveryToSign {
  /** `whd_…` */
  readonly deliveryId: string
  /** `evt_…` */
  readonly eventId: string
  readonly eventType: string
  /** The frozen bytes of the event, signed and sent unchanged. */
  readonly body: Uint8Array
  /** Unix seconds of this attempt; receivers refuse a time more than 300 s away from their own. */
  readonly timestampS: number
  /** Plain `whsec_…` secrets of the endpoint, current first; at least one. */
  readonly secrets: readonly string[]
}

/**
 * All headers of a delivery request: those of the specification, and those of Standard Webhooks 1.0, so that
 * both kinds of verifiers accept it. `X-Webhook-Signature` has one digest, by the current secret; older secrets of a
 * rotation sign the Standard Webhooks header only, which is a list by its specification. Throws without a secret.
 */
export function signDelivery(delivery: DeliveryToSign): Readonly<Record<string, string>> {
  const { deliveryId, eventId, eventType, body, timestampS, secrets } = delivery
  const [current] = secrets
  if (current === undefined) throw new Error('an endpoint without a secret cannot be signed for')
  const digest = createHmac('sha256', current).update(signedText(timestampS, body)).digest('hex')
  return {
    'Content-Type': 'application/json',
    'User-Agent': USER_AGENT,
    'X-Webhook-Id': deliveryId,
    'X-Webhook-Event': eventType,
    'X-Webhook-Timestamp': String(timestampS),
    'X-Webhook-Signature': signatureHeader(timestampS, digest),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': secrets.map((secret) => standardSignature(secret, eventId, timestampS, body)).join(' '),
  }
}

/** Standard Webhooks 1.0 §"Signature scheme": HMAC-SHA256 over `id.timestamp.body`, keyed with the bytes behind `whsec_`. */
function standardSignature(secret: string, id: string, timestampS: number, body: Uint8Array): string {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret
  const key = Buffer.from(text, 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestampS}.`).update(body).digest('base64')}`
}

/**
 * A full batch is written at once; a smaller one waits this long for more rows, and for the write before it. The receiver already has
 * its event, so the wait delays nothing; a process killed meanwhile causes one more send of the outcomes not yet written.
 */
const BATCH_ROWS = 32
const BATCH_WAIT_MS = 40
/** Pauses between tries of a failed write; together well within the lease of 20 s less the 10 s of the request. */
const RETRY_AFTER_MS = [100, 500, 2_000] as const

type OutcomeRecorderDeps = Uses<'deliveries' | 'after' | 'stopwatch' | 'logger' | 'metrics'>

/** Writes the outcomes of many endpoints together: one majority write for up to 32 rows instead of one for each. */
export interface OutcomeRecorder {
  /**
   * Resolves true once the outcome is durable, false when every write failed. Then the row falls due again
   * when its lease ends and is sent once more under the same ids; no attempt is consumed.
   */
  record(outcome: DeliveryOutcome): Promise<boolean>
}

interface PendingOutcome {
  readonly outcome: DeliveryOutcome
  /** Stopwatch reading when the outcome was known. */
  readonly knownAt: number
  readonly done: (recorded: boolean) => void
}

/** A recorder for one process; every dispatcher lane shares it. */
export function createOutcomeRecorder(deps: OutcomeRecorderDeps): OutcomeRecorder {
  let waiting: PendingOutcome[] = []
  let writes = 0
  let cancelTimer: (() => void) | null = null
  const flush = (): void => {
    cancelTimer?.()
    cancelTimer = null
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    writes += 1
    void write(deps, batch).finally(() => {
      writes -= 1
      schedule()
    })
  }
  const schedule = (): void => {
    if (waiting.length >= BATCH_ROWS) flush()
    else if (waiting.length > 0 && writes === 0) cancelTimer ??= deps.after(BATCH_WAIT_MS, flush)
  }
  return {
    record: (outcome) =>
      new Promise((done) => {
        waiting.push({ outcome, knownAt: deps.stopwatch(), done })
        schedule()
      }),
  }
}

async function write(deps: OutcomeRecorderDeps, batch: readonly PendingOutcome[]): Promise<void> {
  for (const pauseMs of [...RETRY_AFTER_MS, null]) {
    try {
      // Repeating it is harmless: a row whose outcome was written no longer holds the lease token.
      await deps.deliveries.finish(batch.map((entry) => withPauseLeft(entry, deps.stopwatch())))
      for (const entry of batch) entry.done(true)
      return
    } catch (error) {
      deps.logger.warn({ err: error, rows: batch.length, pauseMs }, 'webhook outcomes could not be written')
      if (pauseMs === null) break
      await new Promise<void>((resolve) => deps.after(pauseMs, resolve))
    }
  }
  deps.metrics.count('webhook_outcomes_lost_total', {}, batch.length)
  for (const entry of batch) entry.done(false)
}

/**
 * The pause began when the outcome was known. The time since is measured in this process, so clock skew between
 * hosts has no effect; below zero the row is due before it is written.
 */
function withPauseLeft({ outcome, knownAt }: PendingOutcome, readNow: number): DeliveryOutcome {
  if (outcome.retryAfterMs === null) return outcome
  return { ...outcome, retryAfterMs: Math.ceil(outcome.retryAfterMs - (readNow - knownAt)) }
}

/** Logs and traces one attempt, the last step of a trace from request over invoice and event to delivery. */
export function reportAttempt(
  deps: Pick<Runtime, 'logger' | 'tracer'>,
  { delivery, event, endpoint }: ClaimedDelivery,
  sent: SentDelivery,
): void {
  const { result, attempt } = sent.outcome
  const ids = { eventId: event.id, deliveryId: delivery.id, endpointId: endpoint.id, attempt: attempt.number }
  const answer = { result, status: attempt.statusCode ?? 0, error: attempt.error ?? '' }
  deps.logger.info({ invoiceId: event.invoiceId, ...ids, ...answer, durationMs: attempt.durationMs }, 'webhook attempt')
  deps.tracer?.record({
    name: 'webhook attempt',
    invoiceId: event.invoiceId,
    kind: 'client',
    durationMs: sent.durationMs,
    failed: result !== 'succeeded',
    attributes: { ...ids, ...answer },
  })
}

/** Failed deliveries in a row that trigger a mail (specification §6, delivery rules). */
const STREAK = 3
/** How many deliveries are searched first for the start of a streak … */
const LOOK_BACK = 20
/**
 * … and at most. All requests in flight to an endpoint may fail in one moment, in several processes, before the streak is checked;
 * a longer streak was mailed long ago.
 */
const LOOK_BACK_MAX = 1_000

export type WarnFailingEndpointDeps = Uses<'deliveries' | 'mails' | 'workspaces' | 'notifier' | 'clock'>

/**
 * Mails the owner when the endpoint's last deliveries, by finish time, are three failures or more in a row. The mail's id
 * is derived from the endpoint and the first delivery of the streak, so a streak is mailed once however often and by however
 * many processes this is called; a success in between begins a new streak.
 */
export async function warnFailingEndpoint(deps: WarnFailingEndpointDeps, endpoint: WebhookEndpoint): Promise<void> {
  const streak =
    (await streakWithin(deps, endpoint.id, LOOK_BACK)) ?? (await streakWithin(deps, endpoint.id, LOOK_BACK_MAX))
  const first = streak?.at(-1)
  if (streak === null || first === undefined || streak.length < STREAK) return
  const mailId = (delivery: { readonly id: string }) => `endpoint-failing:${endpoint.id}:${delivery.id}`
  // Outcomes are not always recorded in timestamp order; a late one can change which delivery starts the streak.
  if (await deps.mails.hasAny(streak.map(mailId))) return
  const workspace = await deps.workspaces.findById(endpoint.workspaceId)
  if (workspace === null) return
  const id = mailId(first)
  await deps.mails.insertMany([
    {
      id,
      workspaceId: workspace.id,
      template: 'endpoint_failing',
      to: workspace.ownerEmail,
      data: { endpointId: endpoint.id, url: endpoint.url, firstDeliveryId: first.id },
      createdAt: deps.clock.now(),
    },
  ])
  deps.notifier.notify(QUEUES.mail, id)
}

/** The latest deliveries, newest first, up to the last success; null when the streak began before the searched part. */
async function streakWithin(deps: Pick<WarnFailingEndpointDeps, 'deliveries'>, endpointId: string, limit: number) {
  const finished = await deps.deliveries.lastFinished(endpointId, limit)
  const successAt = finished.findIndex((delivery) => delivery.status === 'succeeded')
  if (successAt === -1) return finished.length < limit ? finished : null
  return finished.slice(0, successAt)
}

/** The bytes that are signed: `<t>.<raw body>`, `t` in Unix seconds. */
export function signedText(t: number, body: Uint8Array): Uint8Array {
  const prefix = new TextEncoder().encode(`${t}.`)
  const text = new Uint8Array(prefix.length + body.length)
  text.set(prefix)
  text.set(body, prefix.length)
  return text
}

/** The value of `X-Webhook-Signature`: `t=<unix seconds>,v1=<hex digest>`. */
export function signatureHeader(t: number, hex: string): string {
  return `t=${t},v1=${hex}`
}
