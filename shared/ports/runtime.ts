import type { Ms } from '#shared/domain/invoice/model.ts'
import type { CounterName, GaugeName, HistogramName } from './metric-table.ts'

/** Time as every process of an installation sees it: the store's clock, not the machine's. */
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

/** Counters, gauges and histograms of the one table; labels are bounded sets, never ids. */
export interface Metrics {
  count(name: CounterName, labels?: Readonly<Record<string, string>>, by?: number): void
  gauge(name: GaugeName, value: number, labels?: Readonly<Record<string, string>>): void
  observe(name: HistogramName, seconds: number, labels?: Readonly<Record<string, string>>): void
}

/** The queues of the installation. A job carries an id and nothing else. */
export const QUEUES = {
  /** id = invoice id. */
  invoiceTransitions: 'invoice-transitions',
  /** id = outbox shard, `shard-<n>`. */
  outbox: 'outbox',
  /** id = webhook endpoint id. */
  webhooks: 'webhooks',
  /** id = webhook endpoint id; endpoints with time-outs live here. */
  webhooksSlow: 'webhooks-slow',
  /** id = `<mode>-<network>`; wakes the scanner before its next poll. */
  scan: 'scan',
  /** id = `cycle`. */
  rates: 'rates',
  /** id = mail id. */
  mail: 'mail',
  /** id = recovery id. */
  recoveries: 'recoveries',
} as const
export type QueueName = (typeof QUEUES)[keyof typeof QUEUES]

/**
 * A best-effort wake-up after a durable write. It never throws and never blocks the caller;
 * a lost kick costs at most one sweep interval (1 s).
 */
export interface Kicker {
  kick(queue: QueueName, id: string): void
}

/** One loop's proof that it turns. */
export interface Pulse {
  beat(): void
  /** The loop has ended and promises nothing more. */
  end(): void
}

/** Where the loops of a process show that they turn. */
export interface Pulses {
  /** The loop promises to beat at least this often while the stores answer. */
  start(loop: string, silenceMaxMs: Ms): Pulse
}

/** A finished piece of work, as a tracing collector shows it. It carries ids and numbers, never content. */
export interface Span {
  /** A bounded name: a route template, or what kind of work it was. */
  readonly name: string
  /** Everything about one invoice is one trace; null = a trace of its own. */
  readonly invoiceId: string | null
  /** True for the request that created the invoice: the other spans of the trace hang below it. */
  readonly root?: boolean
  /** `server` answers somebody, `client` asks somebody, `consumer` works off a queue. */
  readonly kind: 'server' | 'client' | 'consumer'
  readonly durationMs: Ms
  readonly failed: boolean
  readonly attributes: Readonly<Record<string, string | number>>
}

/** Takes spans that end now; never throws and never blocks. */
export interface Tracer {
  record(span: Span): void
}

/** What use cases need of the surrounding process. */
export interface Ambient {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly metrics: Metrics
  /** Absent where nobody judges the process. */
  readonly pulses?: Pulses | undefined
  /** Absent while no tracing collector is configured. */
  readonly tracer?: Tracer | undefined
}
