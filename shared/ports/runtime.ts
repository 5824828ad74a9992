import type { TraceParent } from '#shared/contracts/trace-parent.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { CounterName, GaugeName, HistogramName } from './metric-table.ts'
import type { CommonPauses } from './timers.ts'

/** The common time of all processes of an installation: the store's clock, not the machine's. */
export interface Clock {
  /** Unix milliseconds, UTC. */
  now(): Ms
}

/** The only source of randomness. */
export interface Random {
  /** A UUID version 7 (RFC 9562): sortable by time of creation. */
  uuid(): string
  /** Cryptographically strong bytes. */
  bytes(length: number): Uint8Array
}

/** Structured log with static messages; pino satisfies it. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: object): Logger
}

/** Counters, gauges and histograms of the metric table; labels are bounded sets, never ids. */
export interface Metrics {
  count(name: CounterName, labels?: Readonly<Record<string, string>>, by?: number): void
  gauge(name: GaugeName, value: number, labels?: Readonly<Record<string, string>>): void
  observe(name: HistogramName, seconds: number, labels?: Readonly<Record<string, string>>): void
}

/** The queues of the installation. A job carries only an id. */
export const QUEUES = {
  /** id = invoice id. */
  invoiceTransitions: 'invoice-transitions',
  /** id = outbox shard, `shard-<n>`. */
  outbox: 'outbox',
  /** id = webhook endpoint id. */
  webhooks: 'webhooks',
  /** id = webhook endpoint id; for endpoints with time-outs. */
  webhooksSlow: 'webhooks-slow',
  /** id = `<mode>-<network>`; wakes the scanner before its next poll. */
  scan: 'scan',
  /** id = mail id. */
  mail: 'mail',
  /** id = recovery id. */
  recoveries: 'recoveries',
} as const
export type QueueName = (typeof QUEUES)[keyof typeof QUEUES]

/**
 * A best-effort wake-up after a durable write. It never throws and never blocks the caller;
 * a lost wake-up costs at most one sweep interval (1 s).
 */
export interface QueueNotifier {
  notify(queue: QueueName, id: string): void
}

/** Heartbeat of one loop. */
export interface Pulse {
  beat(): void
  /** The loop has ended and sends no more heartbeats. */
  end(): void
}

/** Registers the loops of a process for liveness checks. */
export interface Pulses {
  /** The loop must send a heartbeat at least this often while the stores respond. */
  start(loop: string, silenceMaxMs: Ms): Pulse
}

/** A finished span for a tracing collector. It carries ids and numbers, never content. */
export interface Span {
  /** A bounded name: a route template, or the kind of work. */
  readonly name: string
  /** All spans of one invoice form one trace; null = a separate trace. */
  readonly invoiceId: string | null
  /** True for the request that created the invoice: the parent of the trace's other spans. */
  readonly root?: boolean
  /** The caller's place in its own trace: the request is a span there too, and the two are linked. */
  readonly parent?: TraceParent | null
  /** `server` handles a request, `client` sends one, `consumer` processes a job. */
  readonly kind: 'server' | 'client' | 'consumer'
  readonly durationMs: Ms
  readonly failed: boolean
  readonly attributes: Readonly<Record<string, string | number>>
}

/** Receives spans that end now; never throws and never blocks. */
export interface Tracer {
  record(span: Span): void
}

/** Dependencies of use cases on the surrounding process. */
export interface Runtime {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly metrics: Metrics
  /** Absent where every loop has separate timers. */
  readonly pauses?: CommonPauses | undefined
  /** Absent without liveness checks. */
  readonly pulses?: Pulses | undefined
  /** Absent without a tracing collector. */
  readonly tracer?: Tracer | undefined
}
