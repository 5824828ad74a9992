import type { Runtime } from '#shared/ports/runtime.ts'
import { type VerifyInPartsDeps, verifyNextPart } from '#shared/usecases/audit/verify-in-parts.ts'
import type { ScheduledJob } from './scheduled-job.ts'

/** A part ends well before the lease does; the next one continues after it. */
const PART_MS = 30_000

/**
 * Verifies the audit log in parts, starting after the last verified row. The dashboard shows the progress. Rows without a signature are
 * reported when a second run, a minute later, finds them too: during an upgrade processes of a version without signatures chain rows, which
 * `auditChainJob` signs within seconds.
 */
export function auditVerificationJob(deps: VerifyInPartsDeps & Runtime): ScheduledJob {
  let wasUnsigned = false
  return {
    id: 'audit-verification',
    leaseMs: 300_000,
    pauseMs: 60_000,
    failures: 'audit_verification_failed_total',
    failed: 'the audit log could not be verified',
    round: async (signal) => {
      const endsAt = performance.now() + PART_MS
      const progress = await verifyNextPart(deps, () => signal.aborted || performance.now() > endsAt)
      const { checked, total, firstBreak } = progress
      const isUnsigned = firstBreak?.kind === 'unsigned'
      const isReported = firstBreak !== null && (!isUnsigned || wasUnsigned)
      wasUnsigned = isUnsigned
      deps.metrics.gauge('audit_log_broken', isReported ? 1 : 0)
      if (!isReported) return
      deps.logger.error({ checked, total, kind: firstBreak.kind, reason: firstBreak.words }, 'the audit log is broken')
    },
  }
}
