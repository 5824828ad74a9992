import type { ServiceContext, StartService } from '#services/context.ts'
import { createAddressBook } from '#shared/chains/address-book.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createCursorRepository } from '#shared/db/cursor-repository.ts'
import { createExceptionRepository } from '#shared/db/exception-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoice-repository.ts'
import { createLeaseRepository } from '#shared/db/lease-repository.ts'
import { createMailRepository } from '#shared/db/mail-repository.ts'
import { createPaymentRepository } from '#shared/db/payment-repository.ts'
import { createRateRepository } from '#shared/db/rate-repository.ts'
import { createWalletRepository } from '#shared/db/wallet-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspace-repository.ts'
import { createInvoiceTransitionsWorker } from '#shared/queues/invoice-transitions-queue.ts'
import { createKicker } from '#shared/queues/kicker.ts'
import { createSecretBox } from '#shared/runtime/secret-box.ts'
import { advanceInvoice, overdueInvoices } from '#shared/usecases/advance-invoice.ts'
import { createRateReader } from '#shared/usecases/read-rate.ts'
import { verifyKeys } from '#shared/usecases/verify-keys.ts'
import { startHeadroomLoop } from './headroom-loop.ts'
import { startStuckLoop } from './stuck-loop.ts'

/** Addresses derived beyond the next one to be offered, for each key. */
const HEADROOM = 512

/**
 * Applies what scanners stored and what the clock demands to invoices. Beside it, one process at a time derives
 * receiving addresses ahead, ends claims whose rest is over and counts pools, and reports networks that do not advance.
 */
export const start: StartService = async (context) => {
  const { db, redis, clock } = context
  const ambient = ambientOf(context)
  const wallets = createWalletRepository(db)
  const secretBox = createSecretBox(context.config.secrets.masterKey)
  const addressBook = createAddressBook()
  // Before anything starts: an address that two libraries see differently must never be shown.
  await verifyKeys({ wallets, addressBook, secretBox })
  const kicker = createKicker(redis, ambient)
  const catalog = createCatalog(context.config.networks)
  const invoices = createInvoiceRepository(db)
  const deps = {
    ...ambient,
    kicker,
    catalog,
    invoices,
    payments: createPaymentRepository(db, context.random),
    cursors: createCursorRepository(db),
    exceptions: createExceptionRepository(db),
    workspaces: createWorkspaceRepository(db),
    rates: createRateReader({ rates: createRateRepository(db), clock, catalog }),
  }
  const turns = new Map<string, number>()
  const worker = createInvoiceTransitionsWorker(redis, ambient, {
    advance: (invoiceId) => advanceInvoice(deps, invoiceId),
    overdue: () => overdueInvoices(deps, turns),
  })
  const leases = createLeaseRepository(db)
  const stopHeadroom = startHeadroomLoop(
    { ...deps, wallets, leases, secretBox, addressBook, mails: createMailRepository(db) },
    HEADROOM,
  )
  const stopStuck = startStuckLoop({ ...deps, leases })
  return async () => {
    await Promise.all([worker.stop(), stopHeadroom(), stopStuck()])
    await kicker.close()
  }
}

function ambientOf({ clock, random, logger, metrics, pulses, tracer }: ServiceContext) {
  return { clock, random, logger, metrics, pulses, tracer }
}
