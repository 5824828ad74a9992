import { startLeasedLoop } from '#shared/runtime/leased-loop.ts'
import { extendAuditChain } from '#shared/usecases/audit-chain.ts'
import type { AuditChainRepository } from '#shared/usecases/ports/audit.ts'
import type { LeaseRepository } from '#shared/usecases/ports/leases.ts'
import type { Ambient } from '#shared/usecases/ports/runtime.ts'

const LEASE_MS = 15_000
/** A round ends before the lease does and goes on in the next. */
const ROUND_MS = 10_000
const PAUSE_MS = 1_000
const PAUSE_AFTER_FAILURE_MS = 5_000

interface LoopDeps extends Ambient {
  readonly chain: AuditChainRepository
  readonly leases: LeaseRepository
}

/**
 * Gives rows of the audit trail their places in the chain, in one process at a time; the unique number is the guard where the
 * lease is not enough. Returns a function that ends the loop and frees the lease.
 */
export function startAuditChainLoop(deps: LoopDeps): () => Promise<void> {
  let adopted = false
  return startLeasedLoop(deps, {
    id: 'audit-chain',
    leaseMs: LEASE_MS,
    pauseMs: PAUSE_MS,
    pauseAfterFailureMs: PAUSE_AFTER_FAILURE_MS,
    failures: 'audit_chain_failed_total',
    failed: 'rows of the audit trail were not chained',
    round: async (signal) => {
      if (!adopted) await deps.chain.adopt()
      adopted = true
      const endsAt = performance.now() + ROUND_MS
      const chained = await extendAuditChain(deps, () => signal.aborted || performance.now() > endsAt)
      if (chained > 0) deps.metrics.count('audit_rows_chained_total', {}, chained)
    },
  })
}
