import { setTimeout as wait } from 'node:timers/promises'
import { extendAuditChain } from '#shared/usecases/audit-chain.ts'
import type { AuditChainRepository } from '#shared/usecases/ports/audit.ts'
import type { LeaseRepository } from '#shared/usecases/ports/leases.ts'
import type { Ambient } from '#shared/usecases/ports/runtime.ts'

const LEASE_ID = 'audit-chain'
const LEASE_MS = 15_000
/** A round ends before the lease does and goes on in the next. */
const ROUND_MS = 10_000
const PAUSE_MS = 1_000
/** After a failed round, so that a lasting fault does not fill the log. */
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
  const owner = deps.random.uuid()
  const stop = new AbortController()
  let adopted = false

  const round = async (): Promise<void> => {
    if (!(await deps.leases.acquire(LEASE_ID, owner, LEASE_MS))) return
    if (!adopted) await deps.chain.adopt()
    adopted = true
    const endsAt = performance.now() + ROUND_MS
    const chained = await extendAuditChain(deps, () => stop.signal.aborted || performance.now() > endsAt)
    if (chained > 0) deps.metrics.count('audit_rows_chained_total', {}, chained)
  }

  const loop = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      let pauseMs = PAUSE_MS
      try {
        await round()
      } catch (error) {
        pauseMs = PAUSE_AFTER_FAILURE_MS
        deps.metrics.count('audit_chain_failed_total')
        deps.logger.error({ err: error }, 'rows of the audit trail were not chained')
      }
      await wait(pauseMs, undefined, { signal: stop.signal }).catch(() => undefined)
    }
    await deps.leases.release(LEASE_ID, owner).catch((error: unknown) => {
      deps.logger.warn({ err: error }, 'the lease of the audit chain was not freed')
    })
  }

  const running = loop()
  return async () => {
    stop.abort()
    await running
  }
}
