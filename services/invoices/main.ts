import type { ServiceContext, StartService } from '#services/context.ts'
import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import { createInvoiceTransitionsWorker } from '#shared/queues/invoice-transitions-queue.ts'
import { createKicker } from '#shared/queues/kicker.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { advanceInvoice, overdueInvoices } from '#shared/usecases/invoices/advance-invoice.ts'
import { createRateReader } from '#shared/usecases/rates/read-rate.ts'
import { verifyKeys } from '#shared/usecases/wallets/verify-keys.ts'
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
