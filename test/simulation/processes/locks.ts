import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import { createLockAvailability } from '#shared/usecases/quotes/lock-availability.ts'
import { createLockOffers } from '#shared/usecases/quotes/lock-offers.ts'
import { createLockPreparer } from '#shared/usecases/quotes/prepare-lock.ts'
import { createRateReader } from '#shared/usecases/rates/read-rate.ts'
import { simCatalog } from './catalog.ts'
import type { Surroundings } from './surroundings.ts'

/** What changes invoices and fixes assets, wired on one process's surroundings as the services do it. */
export function wireInvoices(around: Surroundings) {
  const { db, random, clock, kicker, logger, metrics } = around
  const ambient = { clock, random, logger, metrics }
  const catalog = simCatalog(around.sim)
  const invoices = createInvoiceRepository(db)
  const wallets = createWalletRepository(db)
  const cursors = createCursorRepository(db)
  const rates = createRateReader({ rates: createRateRepository(db), clock, catalog })
  const addresses = createLockOffers({ ...ambient, wallets, catalog, invoices })
  const availability = createLockAvailability({ wallets, cursors, catalog, clock, rates, addresses })
  return {
    ...ambient,
    kicker,
    catalog,
    cursors,
    invoices,
    wallets,
    rates,
    availability,
    payments: createPaymentRepository(db, random),
    workspaces: createWorkspaceRepository(db),
    locks: createLockPreparer({ catalog, rates, availability, addresses }),
  }
}
