import { expect, it } from 'vitest'
import { createMetrics } from './metrics.ts'

it('declares names at their first use and prints them with the prefix', async () => {
  const metrics = createMetrics({ defaults: false })
  metrics.count('invoices_created_total', { mode: 'test' })
  metrics.count('invoices_created_total', { mode: 'test' }, 2)
  metrics.gauge('paymesh_queue_depth', 7)
  metrics.observe('request_seconds', 0.02, { route: '/invoices' })
  const text = await metrics.render()
  expect(text).toContain('paymesh_invoices_created_total{mode="test"} 3')
  expect(text).toContain('paymesh_queue_depth 7')
  expect(text).toContain('paymesh_request_seconds_bucket{le="0.025",route="/invoices"} 1')
})

it('shows the figures of the process and keeps registries apart', async () => {
  const first = createMetrics()
  const second = createMetrics()
  first.count('only_here_total')
  expect(await first.render()).toContain('process_cpu_user_seconds_total')
  expect(await second.render()).not.toContain('only_here_total')
})
