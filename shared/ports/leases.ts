import type { Ms } from '#shared/domain/invoice/model.ts'

/**
 * Named leases that keep work to one process at a time. A lease only saves duplicate work: a holder still writes
 * so that a second holder does no harm. Times are the store's clock.
 */
export interface LeaseRepository {
  /**
   * Takes or prolongs the lease when it is free, expired or already ours; false while another owner holds it. `leaseMs` is the same for all who
   * take it: a lease that ends more than a minute later than one of now was taken under a wrong clock, and counts as expired.
   */
  acquire(id: string, owner: string, leaseMs: Ms): Promise<boolean>
  /** Frees the lease if it is still ours. */
  release(id: string, owner: string): Promise<void>
}
