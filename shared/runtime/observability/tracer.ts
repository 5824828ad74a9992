import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { fetch } from 'undici'
import type { TraceSampler } from '#shared/config/otel.ts'
import type { TraceParent } from '#shared/contracts/trace-parent.ts'
import type { Metrics, Span, Tracer } from '#shared/ports/runtime.ts'

/** A tracer that can be stopped. */
export interface RunningTracer extends Tracer {
  /** Sends waiting spans, for a second at most. */
  stop(): Promise<void>
}

export interface TracerOptions {
  /** Base URL of a collector that accepts OTLP over HTTP as JSON. */
  readonly url: string
  /** Process type, shown as the service. */
  readonly process: string
  readonly metrics: Pick<Metrics, 'count'>
  /** For the collector, as hosted ones need for their key. */
  readonly headers: Readonly<Record<string, string>>
  readonly sampling: TraceSampling
  /** This process: its version, and a name that no other running one has. */
  readonly instance: { readonly id: string; readonly host: string; readonly version: string }
  /** Default 2 s. */
  readonly flushEveryMs?: number
}

/** Which traces are recorded. */
export interface TraceSampling {
  readonly sampler: TraceSampler
  /** Of the traces of a ratio sampler, 0 to 1. */
  readonly share: number
}

const FLUSH_EVERY_MS = 2_000
const TIMEOUT_MS = 5_000
/** Spans not sent by then are lost when the process ends. */
const STOP_MS = 1_000
/** Spans in one request, and spans waiting at most; an unavailable collector must not exhaust the memory. */
const BATCH = 512
const WAITING_MAX = 4_096
/** opentelemetry-proto, trace.proto: SpanKind and StatusCode. */
const KINDS = { server: 2, client: 3, consumer: 5 } as const
const STATUS_ERROR = 2

/**
 * Sends spans to an OpenTelemetry collector (OTLP/HTTP, JSON). The trace of an invoice has the invoice's own id: a UUID is
 * exactly as long as a trace id, so spans of separate processes join without a propagated context, and decide alike on whether the trace is
 * recorded. A request with a `traceparent` is a span of the caller's trace as well, and linked with the invoice's: nothing of it is stored. Spans that the
 * collector does not accept are dropped and counted, never kept.
 */
export function createTracer(options: TracerOptions): RunningTracer {
  const { url, process, metrics, instance, flushEveryMs = FLUSH_EVERY_MS } = options
  const resource = {
    attributes: attributesOf({
      ...{ 'service.name': `paymesh-${process}`, 'service.namespace': 'paymesh', 'service.version': instance.version },
      ...{ 'service.instance.id': instance.id, 'host.name': instance.host },
    }),
  }
  const headers = { ...options.headers, 'content-type': 'application/json' }
  const waiting: object[] = []
  let sending: Promise<void> | null = null

  const send = async (spans: readonly object[]): Promise<void> => {
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'paymesh' }, spans }] }] })
    let result = 'refused'
    try {
      const response = await fetch(`${url}/v1/traces`, {
        method: 'POST',
        headers,
        body,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      await response.body?.cancel()
      if (response.ok) result = 'taken'
    } catch {
      result = 'unreachable'
    }
    metrics.count('spans_exported_total', { result }, spans.length)
  }
  /** One request at a time, so that the number of waiting spans is bounded even while the collector hangs. */
  const flush = (): Promise<void> => {
    const drain = async (): Promise<void> => {
      for (let spans = waiting.splice(0, BATCH); spans.length > 0; spans = waiting.splice(0, BATCH)) await send(spans)
    }
    // Never cleared inside: with nothing to send that would happen before the assignment, and nothing would be sent again.
    sending ??= drain().finally(() => {
      sending = null
    })
    return sending
  }
  const timer = setInterval(() => void flush(), flushEveryMs)
  timer.unref()

  return {
    record: (span) => {
      const spans = encode(span, { endedAt: Date.now(), sampling: options.sampling })
      waiting.push(...spans)
      if (waiting.length >= BATCH) void flush()
      if (waiting.length <= WAITING_MAX) return
      const dropped = waiting.splice(0, BATCH).length
      metrics.count('spans_exported_total', { result: 'dropped' }, dropped)
    },
    stop: async () => {
      clearInterval(timer)
      await Promise.race([flush(), delay(STOP_MS, undefined, { ref: false })])
    },
  }
}

interface Encoding {
  /** By this machine's clock, as collectors expect. */
  readonly endedAt: number
  readonly sampling: TraceSampling
}

/** The span in the trace of its invoice, or in its own, and in the trace of the caller: those of them that are recorded. */
function encode(span: Span, { endedAt, sampling }: Encoding): readonly object[] {
  const { invoiceId, parent = null } = span
  const ofInvoice = invoiceId === null ? null : traceOf(invoiceId)
  const own = placeOf(span, ofInvoice)
  const inCaller =
    parent === null ? null : { traceId: parent.traceId, spanId: newSpanId(), parentSpanId: parent.spanId }
  const common = {
    name: span.name,
    kind: KINDS[span.kind],
    startTimeUnixNano: nanoseconds(endedAt - span.durationMs),
    endTimeUnixNano: nanoseconds(endedAt),
    attributes: attributesOf({ ...(invoiceId === null ? {} : { invoiceId }), ...span.attributes }),
    ...(span.failed ? { status: { code: STATUS_ERROR } } : {}),
  }
  const linkTo = (place: { readonly traceId: string; readonly spanId: string } | null) =>
    place === null ? {} : { links: [{ traceId: place.traceId, spanId: place.spanId }] }
  // A request of no invoice is in its caller's trace alone.
  const isAlone = ofInvoice === null && inCaller !== null
  return [
    ...(!isAlone && isSampled(sampling, own.traceId, null) ? [{ ...own, ...common, ...linkTo(inCaller) }] : []),
    ...(inCaller !== null && isSampled(sampling, inCaller.traceId, parent)
      ? [{ ...inCaller, ...common, ...linkTo(isAlone ? null : own) }]
      : []),
  ]
}

/** Where a span stands in the trace of its invoice; without one it is a trace by itself. */
function placeOf({ root }: Span, traceId: string | null) {
  if (traceId === null) return { traceId: randomBytes(16).toString('hex'), spanId: newSpanId() }
  const rootId = traceId.slice(16)
  return root === true ? { traceId, spanId: rootId } : { traceId, spanId: newSpanId(), parentSpanId: rootId }
}

const newSpanId = (): string => randomBytes(8).toString('hex')

/** The digits of a trace id that are random in a UUID of version 7 as well (W3C Trace Context, level 2: the rightmost 56 bits). */
const RANDOM_DIGITS = 14
const RANDOM_VALUES = 16 ** RANDOM_DIGITS

/** A decision by the trace id alone: every process makes the same one about the trace of an invoice. */
function isSampled({ sampler, share }: TraceSampling, traceId: string, parent: TraceParent | null): boolean {
  if (parent !== null && sampler.startsWith('parentbased_')) return parent.isSampled
  if (sampler.endsWith('always_on')) return true
  if (sampler.endsWith('always_off')) return false
  return Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) / RANDOM_VALUES < share
}

/** 32 hex digits, or null unless it is a UUID. */
function traceOf(invoiceId: string): string | null {
  const hex = invoiceId.replaceAll('-', '').toLowerCase()
  return /^[0-9a-f]{32}$/.test(hex) ? hex : null
}

const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1_000)) * 1_000n)

function attributesOf(values: Readonly<Record<string, string | number>>): readonly object[] {
  return Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { doubleValue: value } : { stringValue: value },
  }))
}
