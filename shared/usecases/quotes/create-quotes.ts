import type { RateReader } from '#shared/ports/rates.ts'
import { createRateReader } from '#shared/usecases/rates/read-rate.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { createQuoteOffers, type QuoteOffers, type QuoteOffersDeps } from './addresses.ts'
import { type AvailabilityDeps, createQuoteAvailability, type QuoteAvailability } from './availability.ts'
import { createQuotePreparer, type QuotePreparer } from './prepare-quote.ts'
import type { VisitorBudget } from './visitor-budget.ts'

/** Process-wide dependencies of quotes. */
export type QuotesDeps = QuoteOffersDeps &
  Omit<AvailabilityDeps, 'rates' | 'addresses'> &
  Uses<'rateSnapshots' | 'wallets' | 'catalog'>

/** Rates, address offers, asset availability and quotes. They share caches, so a process creates them once. */
export interface Quotes {
  readonly rates: RateReader
  readonly addresses: QuoteOffers
  readonly availability: QuoteAvailability
  readonly paymentMethods: QuotePreparer
}

/** Wires everything that sets an asset's price and address. `budget` limits visitors and is absent where only the merchant creates quotes. */
export function createQuotes(deps: QuotesDeps, budget?: VisitorBudget): Quotes {
  const rates = createRateReader({ ...deps, rates: deps.rateSnapshots })
  const addresses = createQuoteOffers(deps)
  const availability = createQuoteAvailability({ ...deps, rates, addresses })
  const paymentMethods = createQuotePreparer({
    ...deps,
    rates,
    availability,
    addresses,
    ...(budget !== undefined && { budget }),
  })
  return { rates, addresses, availability, paymentMethods }
}
