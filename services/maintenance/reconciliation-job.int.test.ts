import { expect, it, vi } from 'vitest'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { createReconciliationRepository } from '#shared/db/reconciliation/reconciliation-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { leaseLifeMs } from '#shared/runtime/process/leased-loop.ts'
import { useStores } from '#test/support/stores.ts'
import { reconciliationJob } from './reconciliation-job.ts'
import { startScheduledJobs } from './scheduled-job.ts'

const stores = useStores()

it('checks in one process at a time, shows each figure from the start, and frees its lease', async () => {
  const metrics = createMetrics({ defaults: false })
  const reconciliation = createReconciliationRepository(stores.db)
  const leases = createLeaseRepository(stores.db)
  const deps = { ...stores.runtime, metrics, reconciliation, cursors: createCursorRepository(stores.db), leases }
  const heartbeats: string[] = []
  const pulses = {
    start: (loop: string) => ({ beat: () => void heartbeats.push(loop), end: () => void heartbeats.push('end') }),
  }
  const stop = startScheduledJobs({ ...deps, pulses }, [reconciliationJob(deps)])
  await vi.waitFor(async () => expect((await reconciliation.progress())?.endedAt).toEqual(expect.any(Number)))
  expect(await leases.acquire('reconciliation', 'another process', leaseLifeMs(900_000))).toBe(false)
  expect(await metrics.render()).toContain('paymesh_invariant_violation_total{invariant="paid_in_full"} 0')
  await stop()
  expect([...new Set(heartbeats)]).toEqual(['reconciliation', 'end'])
  expect(await leases.acquire('reconciliation', 'another process', leaseLifeMs(900_000))).toBe(true)
})

it('counts a round that failed and goes on', async () => {
  const metrics = createMetrics({ defaults: false })
  const reconciliation = {
    ...createReconciliationRepository(stores.db),
    progress: () => Promise.reject(new Error('the store is away')),
  }
  const leases = { ...createLeaseRepository(stores.db), acquire: () => Promise.resolve(true) }
  const deps = { ...stores.runtime, metrics, reconciliation, cursors: createCursorRepository(stores.db), leases }
  const stop = startScheduledJobs(deps, [reconciliationJob(deps)])
  await vi.waitFor(async () => expect(await metrics.render()).toContain('paymesh_reconciliation_failed_total 1'))
  await stop()
})
