import type { AuditHead } from '#shared/ports/audit-chain.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { noticeBreak } from '#shared/usecases/audit/audit-breaks.ts'
import { AuditChainBroken, type ExtendAuditDeps, extendAuditChain } from '#shared/usecases/audit/audit-chain.ts'
import { cutAt } from '#shared/usecases/audit/verify-in-parts.ts'
import type { ScheduledJob } from './scheduled-job.ts'

/** A run ends before the lease does and continues in the next. */
const RUN_MS = 10_000
/** Rows wait for their place at most this long, and the length of a run. */
const PAUSE_MS = 1_000
/** While no row waits, the end of the chain is compared with the one seen last this often. */
const CHECK_EVERY_MS = 4_000
/** The end of the chain is logged this often: a log stored elsewhere reveals a restored older store. */
const LOG_EVERY_MS = 3_600_000

type JobDeps = Runtime & ExtendAuditDeps

/** Chains rows of the audit log, and stores a break of its end. The unique number is the guard where the lease is not enough. */
export function auditChainJob(deps: JobDeps): ScheduledJob {
  let seen: AuditHead | null = null
  let loggedAt = Number.NEGATIVE_INFINITY
  let checkedAt = Number.NEGATIVE_INFINITY
  return {
    id: 'audit-chain',
    leaseMs: 15_000,
    pauseMs: PAUSE_MS,
    pauseAfterFailureMs: 5_000,
    failures: 'audit_chain_failed_total',
    failed: 'rows of the audit log were not chained',
    round: async (signal) => {
      const isCheckDue = performance.now() - checkedAt >= CHECK_EVERY_MS
      if (!(await deps.auditChain.isAnyWaiting()) && !isCheckDue) return
      checkedAt = performance.now()
      const endsAt = performance.now() + RUN_MS
      const chained = await extendBehind(deps, seen, () => signal.aborted || performance.now() > endsAt).catch(
        async (error: unknown) => {
          if (error instanceof AuditChainBroken) await noticeBreak(deps, error.found)
          // The stored break replaces what this process remembers: its answer may move the end.
          seen = null
          throw error
        },
      )
      if (chained > 0) deps.metrics.count('audit_rows_chained_total', {}, chained)
      // Nothing was chained here: the end that this process saw is still one that must stand.
      if (chained > 0 || seen === null) seen = await deps.auditChain.head()
      if (seen === null || performance.now() - loggedAt < LOG_EVERY_MS) return
      loggedAt = performance.now()
      deps.logger.info({ seq: seen.seq, hash: seen.hash, keyId: seen.keyId }, 'end of the audit chain')
    },
  }
}

/** Extends the chain where the end that this process saw last still stands: a chain that was cut back to an earlier signed end is detected here. */
async function extendBehind(deps: JobDeps, seen: AuditHead | null, shouldStop: () => boolean): Promise<number> {
  const words = `Row ${seen?.seq} was the end of the audit log a moment ago, and it is gone or was replaced.`
  const cut = seen && (await cutAt(deps, seen, words))
  if (cut !== null) throw new AuditChainBroken(cut)
  return await extendAuditChain(deps, shouldStop)
}
