import { expect, it } from 'vitest'
import { METRICS } from '#shared/ports/metric-table.ts'
import { createMetrics } from './metrics.ts'

it('prints what was counted with the prefix and the help of the table', async () => {
  const metrics = createMetrics({ defaults: false })
  metrics.count('jobs_failed_total', { queue: 'outbox' })
  metrics.count('jobs_failed_total', { queue: 'outbox' }, 2)
  metrics.gauge('rate_snapshot_age_seconds', 7)
  metrics.observe('job_seconds', 0.02, { queue: 'mail' })
  const text = await metrics.render()
  expect(text).toContain('paymesh_jobs_failed_total{queue="outbox"} 3')
  expect(text).toContain(`# HELP paymesh_jobs_failed_total ${METRICS.jobs_failed_total.help}`)
  expect(text).toContain('paymesh_rate_snapshot_age_seconds 7')
  expect(text).toContain('paymesh_job_seconds_bucket{le="0.025",queue="mail"} 1')
})

it('counts from zero, so that the very first failure is an increase', async () => {
  expect(await createMetrics({ defaults: false }).render()).toContain('paymesh_outbox_blocked_total 0')
})

it('takes back what it no longer knows', async () => {
  const metrics = createMetrics({ defaults: false })
  metrics.gauge('queue_depth', 3, { queue: 'mail' })
  metrics.forget('queue_depth')
  expect(await metrics.render()).not.toContain('paymesh_queue_depth{')
})

it('shows the figures of the process and keeps registries apart', async () => {
  const first = createMetrics()
  const second = createMetrics()
  first.count('outbox_blocked_total', {}, 5)
  expect(await first.render()).toContain('process_cpu_user_seconds_total')
  expect(await second.render()).toContain('paymesh_outbox_blocked_total 0')
})

it('names its units: seconds are measured in histograms and gauges, and only counters end in _total', () => {
  for (const [name, { kind, labels }] of Object.entries(METRICS)) {
    expect(name).toMatch(/^[a-z][a-z0-9_]*$/)
    expect(name.endsWith('_total'), name).toBe(kind === 'counter')
    if (kind === 'histogram') expect(name).toMatch(/_seconds$/)
    expect(new Set(labels).size).toBe(labels.length)
  }
})
