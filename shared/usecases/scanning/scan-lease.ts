import type { CursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Runtime } from '#shared/ports/runtime.ts'

/** Duration of a scanner's lease, and how often its holder renews it, milliseconds. */
const LEASE_MS = 15_000
const RENEW_MS = 5_000

/** The network, mode and holder of a lease. */
export interface LeaseScope {
  readonly mode: Mode
  readonly network: NetworkId
  readonly owner: string
}

/** The right to scan one network, while `isHeld` returns true. */
export interface ScanLease {
  /** Increases with each holder; every write of this one carries it. */
  readonly epoch: number
  /**
   * False from the moment at which another process may hold the lease. Measured by this machine's monotonic clock from
   * before the last renewal request, so a suspended process detects it at once.
   */
  isHeld(): boolean
  /** Stops renewing and releases the lease, so that the next holder need not wait. */
  release(): Promise<void>
}

/** Takes the lease of a network and keeps renewing it. Null while another process holds it. */
export async function acquireScanLease(
  deps: { readonly cursors: Pick<CursorRepository, 'acquireLease' | 'releaseLease'> } & Pick<
    Runtime,
    'logger' | 'metrics'
  >,
  scope: LeaseScope,
): Promise<ScanLease | null> {
  const { mode, network, owner } = scope
  const acquire = async () => {
    const requestedAt = performance.now()
    const granted = await deps.cursors.acquireLease(mode, network, owner, LEASE_MS)
    return granted === null ? null : { epoch: granted.epoch, until: requestedAt + LEASE_MS }
  }
  const first = await acquire()
  if (first === null) return null
  let until = first.until
  const label = { lease: `scan:${mode}:${network}` }

  const timer = setInterval(() => {
    acquire().then(
      (renewed) => {
        // A higher epoch means that the lease was lost in between: this holder's state is outdated.
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
