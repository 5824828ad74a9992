import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { fetch } from 'undici'
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
  /** Default 2 s. */
  readonly flushEveryMs?: number
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
 * exactly as long as a trace id, so spans of separate processes join without a propagated context. Spans that the
 * collector does not accept are dropped and counted, never kept.
 */
export function createTracer(options: TracerOptions): RunningTracer {
  const { url, process, metrics, flushEveryMs = FLUSH_EVERY_MS } = options
  const waiting: object[] = []
  let sending: Promise<void> | null = null

  const send = async (spans: readonly object[]): Promise<void> => {
    const resource = {
      attributes: attributesOf({ 'service.name': `paymesh-${process}`, 'service.namespace': 'paymesh' }),
    }
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'paymesh' }, spans }] }] })
    let result = 'refused'
    try {
      const response = await fetch(`${url}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
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
      waiting.push(encode(span, Date.now()))
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

/** `endedAt` is this machine's clock, as collectors expect. */
function encode(span: Span, endedAt: number): object {
  const traceId = span.invoiceId === null ? null : traceOf(span.invoiceId)
  const rootId = traceId?.slice(16)
  const isRoot = rootId === undefined || span.root === true
  return {
    traceId: traceId ?? randomBytes(16).toString('hex'),
    spanId: span.root === true && rootId !== undefined ? rootId : randomBytes(8).toString('hex'),
    ...(isRoot ? {} : { parentSpanId: rootId }),
    name: span.name,
    kind: KINDS[span.kind],
    startTimeUnixNano: nanoseconds(endedAt - span.durationMs),
    endTimeUnixNano: nanoseconds(endedAt),
    attributes: attributesOf({ ...(span.invoiceId === null ? {} : { invoiceId: span.invoiceId }), ...span.attributes }),
    ...(span.failed ? { status: { code: STATUS_ERROR } } : {}),
  }
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
