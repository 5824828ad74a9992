import { setTimeout as wait } from 'node:timers/promises'
import type { LeaseRepository } from '#shared/ports/leases.ts'

/** Name of the lease of scheduled back-ups: one for the installation, whatever their folders are called in each container. */
export const BACKUP_LEASE = 'backup'
/** A process that was killed or lost its store holds the lease no longer than this. */
const LEASE_MS = 30_000
const RENEW_MS = 10_000
/** After this long another process that still holds the lease is alive. */
export const LEASE_ENDS_MS = 40_000
const POLL_MS = 1_000

/** Another process makes a back-up. */
export class LeaseTaken extends Error {}

/** A lease that is held. */
export interface HeldLease {
  /** Aborted by the caller's signal, and when another process has taken the lease. */
  readonly signal: AbortSignal
  /** Prolongs the lease; throws when another process has it. Call it before changing what other processes made. */
  require(): Promise<void>
  /**
   * Throws the reason when the work had to end: that of `signal`, or `LeaseTaken` when another process has the lease by now, which may have
   * removed what this one was writing. Ask it after a failure. A store that cannot be asked is no reason.
   */
  rethrowEnd(): Promise<void>
}

/** Who asks for which lease. */
export interface LeaseRequest {
  /** Default: that of archives. */
  readonly name?: string
  readonly owner: string
  readonly signal: AbortSignal
  /** How long to wait for its holder: `LEASE_ENDS_MS` outlasts one that was killed. */
  readonly waitMs: number
}

/**
 * Runs `work` while this process holds the lease of back-ups, and frees it afterwards. Throws `LeaseTaken` when another process still holds it
 * after the wait. The lease counts by the store's clock.
 */
export async function underBackupLease<T>(
  leases: LeaseRepository,
  { name = BACKUP_LEASE, owner, signal, waitMs }: LeaseRequest,
  work: (lease: HeldLease) => Promise<T>,
): Promise<T> {
  const taken = () => new LeaseTaken('another process is making a back-up of this installation')
  const acquire = async (): Promise<boolean> => await leases.acquire(name, owner, LEASE_MS)
  const until = performance.now() + waitMs
  while (!(await acquire())) {
    if (performance.now() >= until) throw taken()
    await wait(POLL_MS, undefined, { signal })
  }
  const lost = new AbortController()
  const renew = async (): Promise<void> => {
    // While the store is lost nobody else can take the lease.
    if (await acquire().catch(() => true)) return
    lost.abort(taken())
  }
  const timer = setInterval(() => void renew(), RENEW_MS)
  const either = AbortSignal.any([signal, lost.signal])
  try {
    return await work({
      signal: either,
      require: async () => {
        if (!(await acquire())) throw taken()
      },
      rethrowEnd: async () => {
        if (!either.aborted) await renew()
        either.throwIfAborted()
      },
    })
  } finally {
    clearInterval(timer)
    await leases.release(name, owner).catch(() => undefined)
  }
}
