import type { ServiceParts, Stop } from '#services/context.ts'
import type { Repositories } from '#shared/db/create-repositories.ts'
import type { InvoiceCounts } from '#shared/db/invoices/invoice-counts.ts'
import type { CustomerEraser } from '#shared/db/maintenance/customer-erasure.ts'
import type { AuditMarks } from '#shared/ports/audit-marks.ts'
import type { Clock, Logger, Runtime } from '#shared/ports/runtime.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import type { StoreRedundancyReader } from '#shared/ports/store-redundancy.ts'
import { WORKERS } from '#shared/queues/workers.ts'
import { carryOutRecovery, overdueRecoveries } from '#shared/usecases/deliveries/recover.ts'
import { type WarnEndpointsBehindDeps, warnEndpointsBehind } from '#shared/usecases/deliveries/warn-endpoints-behind.ts'
import { type DigestDeps, sendDigests } from '#shared/usecases/exceptions/send-digests.ts'
import { sweepErasures } from '#shared/usecases/maintenance/erase-customer.ts'
import { keepRetention, type RetentionDeps } from '#shared/usecases/maintenance/keep-retention.ts'
import { type NotifyOperatorsDeps, notifyOperators } from '#shared/usecases/notices/notify-operators.ts'
import { auditChainJob } from './audit-chain-job.ts'
import { auditVerificationJob } from './audit-verification-job.ts'
import { reconciliationJob } from './reconciliation-job.ts'
import { type ScheduledJob, startScheduledJobs } from './scheduled-job.ts'
import { watchPacksJob } from './watch-packs-job.ts'

/** The parts of the `maintenance` process. */
export interface MaintenanceParts extends ServiceParts {
  readonly auditKeys: AuditKeys
  readonly auditMarks: AuditMarks
  /** Reads the store for mails to the operators; null where alerts reach them in another way. */
  readonly redundancy: StoreRedundancyReader | null
}

/** Runs every scheduled job, and the requested recoveries. */
export function assembleMaintenance(parts: MaintenanceParts): Stop {
  const deps = { ...parts, lookups: parts.deliveryLookups }
  const recoveries = parts.startWorker({
    ...WORKERS.recoveries,
    handle: (id) => carryOutRecovery(deps, id),
    sweep: () => overdueRecoveries(deps),
  })
  const stopJobs = startScheduledJobs(parts, schedule(parts))
  return async () => {
    await Promise.all([recoveries.stop(), stopJobs()])
  }
}

/** Every scheduled job. Interval, lease and task are in the job's own file. */
function schedule(parts: MaintenanceParts): readonly ScheduledJob[] {
  const { auditChain: chain, auditKeys: keys, auditMarks: marks, recordedDocuments: documents } = parts
  const audit = { ...parts, chain, keys, marks, documents }
  return [
    auditChainJob(audit),
    auditVerificationJob(audit),
    retentionJob(parts),
    reconciliationJob(parts),
    countRepairJob(parts),
    rollupJob(parts),
    digestJob(parts),
    endpointsBehindJob(parts),
    erasureJob(parts),
    watchPacksJob(parts),
    ...(parts.redundancy === null ? [] : [operatorNoticesJob({ ...parts, redundancy: parts.redundancy })]),
  ]
}

/** Mails open exceptions to each workspace once a day. A second process does no harm: a mail's id is derived from workspace and day. */
function digestJob(deps: DigestDeps): ScheduledJob {
  return {
    id: 'digests',
    leaseMs: 150_000,
    pauseMs: 60_000,
    failures: 'maintenance_failed_total',
    failed: 'daily mails about open exceptions failed',
    round: () => sendDigests(deps).then(() => undefined),
  }
}

/** Mails owners whose endpoints are behind because of their own speed. A second process does no harm: a mail's id is derived from the episode. */
function endpointsBehindJob(deps: WarnEndpointsBehindDeps): ScheduledJob {
  return {
    id: 'endpoints-behind',
    leaseMs: 150_000,
    pauseMs: 60_000,
    failures: 'maintenance_failed_total',
    failed: 'mails about endpoints that are behind failed',
    round: () => warnEndpointsBehind(deps).then(() => undefined),
  }
}

/** Mails the operators of the installation about problems that began and ended, each minute. A second process does no harm: ids of mails are derived. */
function operatorNoticesJob(deps: NotifyOperatorsDeps): ScheduledJob {
  return {
    id: 'operator-notices',
    leaseMs: 150_000,
    pauseMs: 60_000,
    failures: 'maintenance_failed_total',
    failed: 'problems of the installation could not be mailed to its operators',
    round: () => notifyOperators(deps),
  }
}

const BATCH = 100

/** Erases the last copies of a customer's data once they are no longer needed. A second process does no harm. */
function erasureJob(deps: { readonly eraser: CustomerEraser; readonly clock: Clock }): ScheduledJob {
  return {
    id: 'customer-erasures',
    leaseMs: 150_000,
    pauseMs: 60_000,
    failures: 'maintenance_failed_total',
    failed: 'copies of erased customers were not removed',
    round: async (signal) => {
      while (!signal.aborted && (await sweepErasures(deps, BATCH)) > 0);
    },
  }
}

/** A run ends well before the lease does and continues in the next. */
const RUN_MS = 300_000

/** Removes documents whose retention period is over. */
function retentionJob(deps: RetentionDeps & { readonly logger: Logger }): ScheduledJob {
  return {
    id: 'retention',
    leaseMs: 900_000,
    pauseMs: 600_000,
    failures: 'retention_failed_total',
    failed: 'documents past their retention period were not removed',
    round: async (signal) => {
      const endsAt = performance.now() + RUN_MS
      const removed = await keepRetention(deps, () => signal.aborted || performance.now() > endsAt)
      if (removed > 0) deps.logger.info({ removed }, 'documents past their retention period were removed')
    },
  }
}

/** Compares the stored counts of plan limits with the invoices once an hour. */
function countRepairJob(deps: Runtime & { readonly counts: Pick<InvoiceCounts, 'repair'> }): ScheduledJob {
  return {
    id: 'invoice-counts',
    leaseMs: 900_000,
    pauseMs: 3_600_000,
    pauseAfterFailureMs: 60_000,
    failures: 'invoice_counts_failed_total',
    failed: 'stored counts of invoices could not be compared with the invoices',
    round: async () => {
      for (const { workspaceId, mode, month, stored, right } of await deps.counts.repair(deps.clock.now())) {
        deps.metrics.count('invoice_counts_repaired_total')
        deps.logger.warn({ workspaceId, mode, month, stored, right }, 'a stored count of invoices was wrong')
      }
    },
  }
}

/** A round ends well before the lease does. The next one goes on from there. */
const PART_MS = 120_000
const PAUSE_MIN_MS = 5_000
/** Rounds take at most a twentieth of the time, so that counting never competes with what is counted. */
const PAUSE_PER_ROUND = 20

/**
 * Keeps the figures of the overview up to date. A change is counted in the next round, 5 s to a minute later, and in an hour of many
 * invoices no sooner than 3 ms for each of them after its last count. Pages say as of when figures are once that is long ago.
 */
function rollupJob(deps: Runtime & Pick<Repositories, 'rollups'>): ScheduledJob {
  let nextAt = Number.NEGATIVE_INFINITY
  return {
    id: 'rollups',
    leaseMs: 600_000,
    pauseMs: PAUSE_MIN_MS,
    pauseAfterFailureMs: 60_000,
    failures: 'rollups_failed_total',
    failed: 'figures of the overview could not be counted',
    round: async (signal) => {
      const begun = performance.now()
      if (begun < nextAt) return
      const stop = () => signal.aborted || performance.now() - begun > PART_MS
      const report = (line: string) => deps.logger.info({ progress: line }, 'figures of the overview are being counted')
      const counted = await deps.rollups.catchUp(deps.clock.now(), { stop, report })
      deps.metrics.count('rollups_counted_total', {}, counted)
      const tookMs = performance.now() - begun
      nextAt = tookMs > PART_MS ? begun : performance.now() + Math.min(tookMs * PAUSE_PER_ROUND, 60_000)
    },
  }
}
