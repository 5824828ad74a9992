import type { Metrics } from '#shared/ports/runtime.ts'
import type { MetricsRegistry } from '#shared/runtime/observability/metrics.ts'

/** Requests that a process let through without Redis, from its metrics in the Prometheus text format. */
export const localAdmissionsIn = (text: string): number =>
  Number(/^\w*rate_limit_local_total(?:\{.*\})? (\d+)/m.exec(text)?.[1] ?? 0)

/** The same for this process. `metrics` is a registry, as that of test stores is. */
export const localAdmissions = async (metrics: Metrics): Promise<number> =>
  localAdmissionsIn(await (metrics as MetricsRegistry).render())
