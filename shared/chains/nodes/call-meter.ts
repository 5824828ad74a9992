import { BATCH, providerOf } from '#shared/domain/nodes/providers.ts'
import type { Metrics } from '#shared/ports/runtime.ts'

/** Where the calls of an endpoint are counted; `labels` name its network and mode. */
export interface EndpointMetrics {
  readonly metrics: Metrics
  readonly labels: Readonly<Record<string, string>>
}

/** Bytes of the bodies of one exchange. */
interface ExchangedBytes {
  readonly requestBytes: number
  readonly responseBytes: number
}

/** Counts what is sent to one host. */
export interface CallMeter {
  /** One exchange, whatever became of it. Never throws. */
  count(what: string, body: unknown, bytes: ExchangedBytes): void
}

/**
 * Counts calls by network, provider and method. Each call of a batch counts for itself, and the batch beside them under `batch`,
 * which carries the bytes of the answer: what part of it belongs to which call is not known before it is parsed.
 */
export function createCallMeter(host: string, { metrics, labels }: EndpointMetrics): CallMeter {
  const provider = providerOf(host)
  const { network = '', mode = '' } = labels
  function add(method: string, { requestBytes, responseBytes }: ExchangedBytes): void {
    const key = { network, mode, provider, method }
    metrics.count('node_calls_total', key)
    metrics.count('node_request_bytes_total', key, requestBytes)
    metrics.count('node_response_bytes_total', key, responseBytes)
  }
  return {
    count(what, body, bytes) {
      try {
        if (!Array.isArray(body)) return add(what, bytes)
        const calls = body.map((call: unknown) => ({ method: methodOf(call, what), bytes: sizeOf(call) }))
        for (const { method, bytes: requestBytes } of calls) add(method, { requestBytes, responseBytes: 0 })
        const inCalls = calls.reduce((sum, call) => sum + call.bytes, 0)
        add(BATCH, { requestBytes: Math.max(0, bytes.requestBytes - inCalls), responseBytes: bytes.responseBytes })
      } catch {
        // A figure is worth less than the call.
      }
    },
  }
}

function methodOf(call: unknown, otherwise: string): string {
  if (typeof call !== 'object' || call === null || !('method' in call)) return otherwise
  return typeof call.method === 'string' ? call.method : otherwise
}

const sizeOf = (call: unknown): number => Buffer.byteLength(JSON.stringify(call) ?? '')
