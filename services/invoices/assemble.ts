import type { ServiceParts, Stop } from '#services/context.ts'
import type { AddressBook, Catalog } from '#shared/ports/chain-catalog.ts'
import type { MarkPlace } from '#shared/ports/marks.ts'
import type { AuditKeys, SecretBox } from '#shared/ports/secrets.ts'
import { WORKERS } from '#shared/queues/workers.ts'
import { createInvoiceAdvancer } from '#shared/usecases/invoices/advance-invoice.ts'
import { createRateReader } from '#shared/usecases/rates/read-rate.ts'
import { verifyKeys } from '#shared/usecases/wallets/verify-keys.ts'
import { startHeadroomLoop } from './headroom-loop.ts'
import { startStuckLoop } from './stuck-loop.ts'

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
