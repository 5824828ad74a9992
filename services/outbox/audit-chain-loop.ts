import { startLeasedLoop } from '#shared/runtime/leased-loop.ts'
import { AuditChainBroken, extendAuditChain } from '#shared/usecases/audit-chain.ts'
import type { AuditChainRepository, AuditHead } from '#shared/usecases/ports/audit.ts'
import type { LeaseRepository } from '#shared/usecases/ports/leases.ts'
import type { Ambient } from '#shared/usecases/ports/runtime.ts'
import type { AuditKeys } from '#shared/usecases/ports/secrets.ts'

const LEASE_MS = 15_000
/** A round ends before the lease does and goes on in the next. */
const ROUND_MS = 10_000
const PAUSE_MS = 1_000
const PAUSE_AFTER_FAILURE_MS = 5_000
/** The end of the chain goes to the log this often: a log that is kept elsewhere shows a store that was put back. */
const LOG_EVERY_MS = 3_600_000

interface LoopDeps extends Ambient {
  readonly chain: AuditChainRepository
  readonly leases: LeaseRepository
  readonly keys: AuditKeys
}

/**
 * Gives rows of the audit trail their places in the chain, in one process at a time; the unique number is the guard where the
 * lease is not enough. Returns a function that ends the loop and frees the lease.
 */
export function startAuditChainLoop(deps: LoopDeps): () => Promise<void> {
  let adopted = false
  let seen: AuditHead | null = null
  let loggedAt = Number.NEGATIVE_INFINITY
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
      if (seen !== null) await requireStanding(deps.chain, seen)
      const endsAt = performance.now() + ROUND_MS
      const chained = await extendAuditChain(deps, () => signal.aborted || performance.now() > endsAt)
      if (chained > 0) deps.metrics.count('audit_rows_chained_total', {}, chained)
      seen = await deps.chain.head()
      if (seen === null || performance.now() - loggedAt < LOG_EVERY_MS) return
      loggedAt = performance.now()
      deps.logger.info({ seq: seen.seq, hash: seen.hash, keyId: seen.keyId }, 'end of the audit chain')
    },
  })
}

/** An end that this process has seen cannot go away: a chain that was cut and signed as it was before shows here. */
async function requireStanding(chain: AuditChainRepository, seen: AuditHead): Promise<void> {
  const [row] = await chain.listChained({ seq: seen.seq, id: '' }, 1)
  if (row?.seq === seen.seq && row.hash === seen.hash) return
  throw new AuditChainBroken(`row ${seen.seq} was the end of the chain a moment ago, and it is gone or another one`)
}
