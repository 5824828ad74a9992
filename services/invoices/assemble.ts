import type { ServiceParts, Stop } from '#services/context.ts'
import type { AddressBook, Catalog } from '#shared/ports/chain-catalog.ts'
import type { LeaseRepository } from '#shared/ports/leases.ts'
import type { MarkPlace } from '#shared/ports/marks.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { AuditKeys, SecretBox } from '#shared/ports/secrets.ts'
import { WORKERS } from '#shared/queues/workers.ts'
import { startLeasedLoop } from '#shared/runtime/process/leased-loop.ts'
import { createInvoiceAdvancer } from '#shared/usecases/invoices/advance-with-back-off.ts'
import { createStuckReporter, type ReportStuckDeps } from '#shared/usecases/networks/report-stuck-networks.ts'
import { createRateReader } from '#shared/usecases/rates/read-rate.ts'
import { verifyKeys } from '#shared/usecases/wallets/verify-keys.ts'
import { startHeadroomLoop } from './headroom-loop.ts'

/** The parts of the `invoices` process. */
export interface InvoicesParts extends ServiceParts {
  readonly catalog: Catalog
  readonly addressBook: AddressBook
  readonly secretBox: SecretBox
  /** Empty: the marks are not kept. */
  readonly markPlaces: readonly MarkPlace[]
  readonly markKeys: AuditKeys
  /** Addresses derived beyond the next one to be offered, for each key. */
  readonly headroom: number
}

/** Checks every key, then starts the worker of transitions and the loops next to it. Rejects when a key is derived wrongly. */
export async function assembleInvoices(parts: InvoicesParts): Promise<Stop> {
  // Before anything starts: an address that two libraries derive differently must never be shown.
  await verifyKeys(parts)
  const deps = { ...parts, rates: createRateReader({ ...parts, rates: parts.rateSnapshots }) }
  const advancer = createInvoiceAdvancer({ ...deps, failures: parts.advanceFailures })
  const worker = parts.startWorker({
    ...WORKERS.invoiceTransitions,
    handle: advancer.advance,
    sweep: advancer.overdue,
  })
  const stopHeadroom = startHeadroomLoop(parts, parts.headroom)
  const stopStuck = startStuckLoop(parts)
  return async () => {
    await Promise.all([worker.stop(), stopHeadroom(), stopStuck()])
  }
}

const LEASE_MS = 30_000
/** Maximum delay of opening and closing an exception. */
const PAUSE_MS = 5_000

/**
 * Opens and closes the exceptions of networks that do not advance, in one process at a time. It runs in the `invoices` process and
 * not in a scanner, because a dead scanner reports nothing. Returns a function that ends the loop and frees the lease.
 */
function startStuckLoop(deps: ReportStuckDeps & Runtime & { readonly leases: LeaseRepository }): () => Promise<void> {
  const reporter = createStuckReporter(deps)
  return startLeasedLoop(deps, {
    id: 'stuck-networks',
    leaseMs: LEASE_MS,
    pauseMs: PAUSE_MS,
    failures: 'stuck_reports_failed_total',
    failed: 'the exceptions of stuck networks could not be updated',
    round: () => reporter.run(),
  })
}
