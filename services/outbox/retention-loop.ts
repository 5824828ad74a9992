import { setTimeout as wait } from 'node:timers/promises'
import { keepRetention, type RetentionDeps } from '#shared/usecases/keep-retention.ts'
import type { LeaseRepository } from '#shared/usecases/ports/leases.ts'
import type { Ambient } from '#shared/usecases/ports/runtime.ts'

const LEASE_ID = 'retention'
const LEASE_MS = 900_000
/** A round ends well before the lease does and goes on in the next. */
const ROUND_MS = 300_000
const PAUSE_MS = 600_000

interface LoopDeps extends RetentionDeps, Ambient {
  readonly leases: LeaseRepository
}

/** Removes what is past its life, in one process at a time. Returns a function that ends the loop and frees the lease. */
export function startRetentionLoop(deps: LoopDeps): () => Promise<void> {
  const owner = deps.random.uuid()
  const stop = new AbortController()

  const round = async (): Promise<void> => {
    if (!(await deps.leases.acquire(LEASE_ID, owner, LEASE_MS))) return
    const endsAt = performance.now() + ROUND_MS
    const removed = await keepRetention(deps, () => stop.signal.aborted || performance.now() > endsAt)
    if (removed > 0) deps.logger.info({ removed }, 'documents past their life were removed')
  }

  const loop = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        await round()
      } catch (error) {
        deps.metrics.count('retention_failed_total')
        deps.logger.error({ err: error }, 'documents past their life were not removed')
      }
      await wait(PAUSE_MS, undefined, { signal: stop.signal }).catch(() => undefined)
    }
    await deps.leases.release(LEASE_ID, owner).catch((error: unknown) => {
      deps.logger.warn({ err: error }, 'the lease of the retention job was not freed')
    })
  }

  const running = loop()
  return async () => {
    stop.abort()
    await running
  }
}
