import type { ServiceContext, StartService } from '#services/context.ts'
import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { createExceptionDesk } from '#shared/db/exceptions/exception-decisions.ts'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createCustomerEraser } from '#shared/db/maintenance/customer-erasure.ts'
import { createRetentionRepository } from '#shared/db/maintenance/retention-repository.ts'
import { createBooksRepository } from '#shared/db/reconciliation/reconciliation-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { Kicker } from '#shared/ports/runtime.ts'
import { createKicker } from '#shared/queues/kicker.ts'
import { createAuditKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { auditChainJob } from './audit-chain-job.ts'
import { digestJob } from './digest-job.ts'
import { erasureJob } from './erasure-job.ts'
import { reconciliationJob } from './reconciliation-job.ts'
import { retentionJob } from './retention-job.ts'
import { type ScheduledJob, startScheduledJobs } from './scheduled-job.ts'
import { startRecoveries } from './start-recoveries.ts'

/**
 * Runs the scheduled jobs of the installation, each in one process at a time, and sends again what people asked for
 * (recoveries). No payment and no webhook waits for it.
 */
export const start: StartService = async (context) => {
  const kicker = createKicker(context.redis, context)
  const recoveries = startRecoveries(context, kicker)
  const leases = createLeaseRepository(context.db)
  const stopJobs = startScheduledJobs({ ...context, leases }, schedule(context, kicker))
  return async () => {
    await Promise.all([recoveries.stop(), stopJobs()])
    await kicker.close()
  }
}

/** Every scheduled job. Interval, lease and what one run does stand in the job's own file. */
function schedule(context: ServiceContext, kicker: Kicker): readonly ScheduledJob[] {
  const { db, config } = context
  return [
    auditChainJob({
      ...context,
      chain: createAuditChainRepository(db),
      keys: createAuditKeys(config.secrets.masterKey),
    }),
    retentionJob({ ...context, retention: createRetentionRepository(db) }),
    reconciliationJob({ ...context, books: createBooksRepository(db), cursors: createCursorRepository(db) }),
    digestJob({
      ...context,
      kicker,
      desk: createExceptionDesk(db),
      mails: createMailRepository(db),
      workspaces: createWorkspaceRepository(db),
    }),
    erasureJob({ ...context, eraser: createCustomerEraser(db) }),
  ]
}
