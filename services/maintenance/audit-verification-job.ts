import type { Runtime } from '#shared/ports/runtime.ts'
import { type VerifyInPartsDeps, verifyNextPart } from '#shared/usecases/audit/verify-in-parts.ts'
import type { ScheduledJob } from './scheduled-job.ts'

/** A part ends well before the lease does; the next one continues after it. */
const PART_MS = 30_000

/** Verifies the audit log in parts, starting after the last verified row, and stores a break. The dashboard shows the progress. */
export function auditVerificationJob(deps: VerifyInPartsDeps & Runtime): ScheduledJob {
  return {
    id: 'audit-verification',
    leaseMs: 300_000,
    pauseMs: 60_000,
    failures: 'audit_verification_failed_total',
    failed: 'the audit log could not be verified',
    round: async (signal) => {
      const endsAt = performance.now() + PART_MS
      const { checked, total, firstBreak } = await verifyNextPart(
        deps,
        () => signal.aborted || performance.now() > endsAt,
      )
      deps.metrics.gauge('audit_log_broken', firstBreak === null ? 0 : 1)
      if (firstBreak === null) return
      deps.logger.error({ checked, total, kind: firstBreak.kind, reason: firstBreak.words }, 'the audit log is broken')
    },
  }
}
