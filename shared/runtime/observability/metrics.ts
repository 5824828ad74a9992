import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import { type GaugeName, METRICS, type MetricDefinition } from '#shared/ports/metric-table.ts'
import type { Metrics } from '#shared/ports/runtime.ts'

/** A `Metrics` port that can print itself in the Prometheus text format. */
export interface MetricsRegistry extends Metrics {
  readonly contentType: string
  /** All metrics in the Prometheus text format, including the process's own figures. */
  render(): Promise<string>
  /** Removes every value of a gauge: an outdated value would look like a new one. */
  forget(name: GaugeName): void
}

/** Seconds; from a local store's response to the 10 s total deadline of a webhook. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** How often the delay of the event loop is sampled, milliseconds. The library's 10 ms wake an idle process a hundred times a second. */
const LOOP_SAMPLE_MS = 50

/**
 * Metrics of one process, exposed with the prefix `paymesh_` and the help of the metric table. A metric appears at its first
 * use; one without labels reads 0 from the start, so that its first increase is visible.
 */
export function createMetrics(options: { readonly defaults?: boolean } = {}): MetricsRegistry {
  const registry = new Registry()
  if (options.defaults ?? true)
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_SAMPLE_MS })
  const common = { registers: [registry] }
  const counters = lazily((head) => new Counter({ ...head, ...common }))
  const gauges = lazily((head) => new Gauge({ ...head, ...common }))
  const histograms = lazily((head) => new Histogram({ ...head, ...common, buckets: BUCKETS }))
  for (const [name, { kind, labels }] of Object.entries<MetricDefinition>(METRICS)) {
    if (kind === 'counter' && labels.length === 0) counters.of(name).inc(0)
  }
  return {
    contentType: registry.contentType,
    render: () => registry.metrics(),
    forget: (name) => {
      registry.removeSingleMetric(exposed(name))
      gauges.forget(name)
    },
    count: (name, labels = {}, by = 1) => counters.of(name).inc(labels, by),
    gauge: (name, value, labels = {}) => gauges.of(name).set(labels, value),
    observe: (name, value, labels = {}) => histograms.of(name).observe(labels, value),
  }
}

interface Head {
  readonly name: string
  readonly help: string
  readonly labelNames: string[]
}

const exposed = (name: string): string => `paymesh_${name}`

function lazily<T>(create: (head: Head) => T): { of(name: string): T; forget(name: string): void } {
  const known = new Map<string, T>()
  const table: Readonly<Record<string, MetricDefinition>> = METRICS
  return {
    of: (name) => {
      const existing = known.get(name)
      if (existing !== undefined) return existing
      const { help = name, labels = [] } = table[name] ?? {}
      const created = create({ name: exposed(name), help, labelNames: [...labels] })
      known.set(name, created)
      return created
    },
    forget: (name) => void known.delete(name),
  }
}
