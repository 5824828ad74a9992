import { setTimeout as wait } from 'node:timers/promises'
import { sweepErasures } from '#shared/usecases/erase-customer.ts'
import type { CustomerEraser } from '#shared/usecases/ports/customer-eraser.ts'
import type { LeaseRepository } from '#shared/usecases/ports/leases.ts'
import type { Ambient } from '#shared/usecases/ports/runtime.ts'
import { type DigestDeps, sendDigests } from '#shared/usecases/send-digests.ts'

const LEASE_ID = 'operators-desk'
const LEASE_MS = 150_000
/** Both are questions of hours. */
const PAUSE_MS = 60_000
const ERASE_BATCH = 100

interface LoopDeps extends DigestDeps, Ambient {
  readonly eraser: CustomerEraser
  readonly leases: LeaseRepository
}

/**
 * Mails what waits in each inbox once a day, and erases copies of customers once they are no longer needed, in one process at a time;
 * a second one would do no harm. Returns a function that ends the loop and frees the lease.
 */
export function startDeskLoop(deps: LoopDeps): () => Promise<void> {
  const owner = deps.random.uuid()
  const stop = new AbortController()

  const round = async (): Promise<void> => {
    if (!(await deps.leases.acquire(LEASE_ID, owner, LEASE_MS))) return
    await sendDigests(deps)
    while (!stop.signal.aborted && (await sweepErasures(deps, ERASE_BATCH)) > 0);
  }

  const loop = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        await round()
      } catch (error) {
        deps.metrics.count('operators_desk_failed_total')
        deps.logger.error({ err: error }, 'daily mails or erasures failed')
      }
      await wait(PAUSE_MS, undefined, { signal: stop.signal }).catch(() => undefined)
    }
    await deps.leases.release(LEASE_ID, owner).catch((error: unknown) => {
      deps.logger.warn({ err: error }, 'the lease of the operators’ desk was not freed')
    })
  }

  const running = loop()
  return async () => {
    stop.abort()
    await running
  }
}
