import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ambient } from '#shared/ports/runtime.ts'
import type { CursorRepository } from '#shared/ports/scanning.ts'

/** Life of a scanner's lease, and how often its holder renews it, milliseconds. */
const LEASE_MS = 15_000
const RENEW_MS = 5_000

/** Whose lease on which network. */
export interface LeaseScope {
  readonly mode: Mode
  readonly network: NetworkId
  readonly owner: string
}

/** The right to scan one network, for as long as `isHeld` says so. */
export interface ScanLease {
  /** Rises with each holder; every write of this one carries it. */
  readonly epoch: number
  /**
   * False from the moment at which another process may hold the lease. Judged by this machine's monotonic clock from
   * before the last renewal was asked for, so a process that was stopped for a while knows at once.
   */
  isHeld(): boolean
  /** Stops renewing and gives the lease back, so that the next holder need not wait. */
  release(): Promise<void>
}

/** Takes the lease of a network and keeps renewing it. Null while another process holds it. */
export async function acquireScanLease(
  deps: { readonly cursors: Pick<CursorRepository, 'acquireLease' | 'releaseLease'> } & Pick<
    Ambient,
    'logger' | 'metrics'
  >,
  scope: LeaseScope,
): Promise<ScanLease | null> {
  const { mode, network, owner } = scope
  const ask = async () => {
    const askedAt = performance.now()
    const granted = await deps.cursors.acquireLease(mode, network, owner, LEASE_MS)
    return granted === null ? null : { epoch: granted.epoch, until: askedAt + LEASE_MS }
  }
  const first = await ask()
  if (first === null) return null
  let until = first.until
  const label = { lease: `scan:${mode}:${network}` }

  const timer = setInterval(() => {
    ask().then(
      (renewed) => {
        // A higher epoch means that the lease was lost in between: what this holder knows is outdated.
        if (until === 0) return
        if (renewed === null || renewed.epoch !== first.epoch) {
          until = 0
          deps.metrics.count('lease_lost_total', label)
        } else until = renewed.until
      },
      (cause: unknown) => {
        deps.metrics.count('lease_renewal_failed_total', label)
        deps.logger.warn({ err: cause, network, mode }, 'scanner lease could not be renewed')
      },
    )
  }, RENEW_MS)
  timer.unref()

  return {
    epoch: first.epoch,
    isHeld: () => performance.now() < until,
    async release() {
      clearInterval(timer)
      const wasHeld = performance.now() < until
      until = 0
      if (wasHeld) await deps.cursors.releaseLease(mode, network, owner)
    },
  }
}
