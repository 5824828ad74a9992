import type { ServiceParts, Stop } from '#services/context.ts'
import type { AuditMarks } from '#shared/ports/audit-marks.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import type { StoreRedundancyReader } from '#shared/ports/store-redundancy.ts'
import { WORKERS } from '#shared/queues/workers.ts'
import { carryOutRecovery, overdueRecoveries } from '#shared/usecases/deliveries/recover.ts'
import { auditChainJob } from './audit-chain-job.ts'
import { auditVerificationJob } from './audit-verification-job.ts'
import { countRepairJob } from './count-repair-job.ts'
import { digestJob } from './digest-job.ts'
import { endpointsBehindJob } from './endpoints-behind-job.ts'
import { erasureJob } from './erasure-job.ts'
import { operatorNoticesJob } from './operator-notices-job.ts'
import { reconciliationJob } from './reconciliation-job.ts'
import { retentionJob } from './retention-job.ts'
import { rollupJob } from './rollup-job.ts'
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
