import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Metrics } from '#shared/usecases/ports/runtime.ts'

type Labels = Readonly<Record<string, string>>

/** A `Metrics` port that can print itself in the Prometheus text format. */
export interface MetricsRegistry extends Metrics {
  readonly contentType: string
  /** The exposition of everything counted so far, the process's own figures included. */
  render(): Promise<string>
}

/** Seconds; from a local store's answer to the 10 s total deadline of a webhook. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * Metrics of one process. A name is declared by its first use and gets the prefix `paymesh_` if it has none; its label
 * names are fixed from then on, and a later use with others throws. Counters count up, histograms take seconds.
 */
export function createMetrics(options: { readonly defaults?: boolean } = {}): MetricsRegistry {
  const registry = new Registry()
  if (options.defaults ?? true) collectDefaultMetrics({ register: registry })
  const counters = lazily((name, labelNames) => new Counter({ name, help: name, labelNames, registers: [registry] }))
  const gauges = lazily((name, labelNames) => new Gauge({ name, help: name, labelNames, registers: [registry] }))
  const histograms = lazily(
    (name, labelNames) => new Histogram({ name, help: name, labelNames, buckets: BUCKETS, registers: [registry] }),
  )
  return {
    contentType: registry.contentType,
    render: () => registry.metrics(),
    count: (name, labels = {}, by = 1) => counters(name, labels).inc(labels, by),
    gauge: (name, value, labels = {}) => gauges(name, labels).set(labels, value),
    observe: (name, seconds, labels = {}) => histograms(name, labels).observe(labels, seconds),
  }
}

function lazily<T>(create: (name: string, labelNames: string[]) => T): (name: string, labels: Labels) => T {
  const known = new Map<string, T>()
  return (name, labels) => {
    const existing = known.get(name)
    if (existing !== undefined) return existing
    const created = create(name.startsWith('paymesh_') ? name : `paymesh_${name}`, Object.keys(labels))
    known.set(name, created)
    return created
  }
}
