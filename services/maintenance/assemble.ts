import type { ServiceParts, Stop } from '#services/context.ts'
import type { AuditMarks } from '#shared/ports/audit-marks.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import type { StoreRedundancyReader } from '#shared/ports/store-redundancy.ts'
import { WORKERS } from '#shared/queues/workers.ts'
import { carryOutRecovery, overdueRecoveries } from '#shared/usecases/deliveries/recover.ts'
import { warnEndpointsBehind } from '#shared/usecases/deliveries/warn-endpoints-behind.ts'
import { sendDigests } from '#shared/usecases/exceptions/send-digests.ts'
import { sweepErasures } from '#shared/usecases/maintenance/erase-customer.ts'
import { keepRetention } from '#shared/usecases/maintenance/keep-retention.ts'
import { notifyOperators } from '#shared/usecases/notices/notify-operators.ts'
import { packWatches } from '#shared/usecases/watches/pack-watches.ts'
import { auditChainJob } from './audit-chain-job.ts'
import { auditVerificationJob } from './audit-verification-job.ts'
import { reconciliationJob } from './reconciliation-job.ts'
import { type ScheduledJob, startScheduledJobs } from './scheduled-job.ts'

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

/** A run ends well before its lease does and continues in the next. */
const RUN_MS = 300_000

/** Every scheduled job: a row, or its own file where it is more. */
function schedule(parts: MaintenanceParts): readonly ScheduledJob[] {
  const { clock, counts, logger, metrics } = parts
  const places = new Map<string, string>()
  return [
    auditChainJob(parts),
    auditVerificationJob(parts),
    {
      id: 'retention',
      ...{ leaseMs: 900_000, pauseMs: 600_000, failures: 'retention_failed_total' },
      failed: 'documents past their retention period were not removed',
      round: async (signal) => {
        const removed = await keepRetention(parts, stopsAfter(RUN_MS, signal))
        if (removed > 0) logger.info({ removed }, 'documents past their retention period were removed')
      },
    },
    reconciliationJob(parts),
    {
      id: 'invoice-counts',
      ...{ leaseMs: 900_000, pauseMs: 3_600_000, pauseAfterFailureMs: 60_000, failures: 'invoice_counts_failed_total' },
      failed: 'stored counts of invoices could not be compared with the invoices',
      round: async () => {
        for (const { workspaceId, mode, month, stored, right } of await counts.repair(clock.now())) {
          metrics.count('invoice_counts_repaired_total')
          logger.warn({ workspaceId, mode, month, stored, right }, 'a stored count of invoices was wrong')
        }
      },
    },
    rollupJob(parts),
    ...eachMinute(parts),
    {
      id: 'watch-packs',
      // Each run reads every hot address once.
      ...{
        leaseMs: 900_000,
        pauseMs: 6 * 3_600_000,
        pauseAfterFailureMs: 600_000,
        failures: 'watch_packs_failed_total',
      },
      failed: 'watched addresses were not packed',
      round: async (signal) => {
        const moved = await packWatches(parts, places, stopsAfter(RUN_MS, signal))
        if (moved === 0) return
        metrics.count('watches_packed_total', {}, moved)
        logger.info({ moved }, 'addresses whose late-watch time is over were packed')
      },
    },
    ...operatorNotices(parts),
  ]
}

const EACH_MINUTE = { leaseMs: 150_000, pauseMs: 60_000, failures: 'maintenance_failed_total' } as const
const ERASED_AT_ONCE = 100

/** A second process does no harm to any of these: ids of mails are derived from their workspace and day, or their episode. */
function eachMinute(parts: MaintenanceParts): readonly ScheduledJob[] {
  return [
    {
      ...{ id: 'digests', ...EACH_MINUTE, failed: 'daily mails about open exceptions failed' },
      round: async () => void (await sendDigests(parts)),
    },
    {
      ...{ id: 'endpoints-behind', ...EACH_MINUTE, failed: 'mails about endpoints that are behind failed' },
      round: async () => void (await warnEndpointsBehind(parts)),
    },
    {
      ...{ id: 'customer-erasures', ...EACH_MINUTE, failed: 'copies of erased customers were not removed' },
      round: async (signal) => {
        while (!signal.aborted && (await sweepErasures(parts, ERASED_AT_ONCE)) > 0);
      },
    },
  ]
}

/** Mails operators about problems that began and ended, where alerts do not reach them in another way. Ids of mails are derived. */
function operatorNotices({ redundancy, ...parts }: MaintenanceParts): readonly ScheduledJob[] {
  if (redundancy === null) return []
  const failed = 'problems of the installation could not be mailed to its operators'
  return [{ id: 'operator-notices', ...EACH_MINUTE, failed, round: () => notifyOperators({ ...parts, redundancy }) }]
}

function stopsAfter(ms: number, signal: AbortSignal): () => boolean {
  const endsAt = performance.now() + ms
  return () => signal.aborted || performance.now() > endsAt
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
function rollupJob({ rollups, clock, logger, metrics }: MaintenanceParts): ScheduledJob {
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
      const report = (line: string) => logger.info({ progress: line }, 'figures of the overview are being counted')
      const counted = await rollups.catchUp(clock.now(), { stop, report })
      metrics.count('rollups_counted_total', {}, counted)
      const tookMs = performance.now() - begun
      nextAt = tookMs > PART_MS ? begun : performance.now() + Math.min(tookMs * PAUSE_PER_ROUND, 60_000)
    },
  }
}
