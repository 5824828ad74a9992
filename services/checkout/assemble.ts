import type { ServiceParts } from '#services/context.ts'
import type { NodePrices } from '#shared/ports/node-usage.ts'
import { createInvoiceNumbers } from '#shared/usecases/invoices/invoice-numbers.ts'
import { createLinkQuota } from '#shared/usecases/payment-links/link-quota.ts'
import { createQuotes } from '#shared/usecases/quotes/create-quotes.ts'
import { createVisitorBudget } from '#shared/usecases/quotes/visitor-budget.ts'
import type { CheckoutDeps } from './checkout-deps.ts'

/** The parts of the `checkout` process. */
export interface CheckoutParts
  extends ServiceParts,
    Pick<CheckoutDeps, 'config' | 'catalog' | 'payees' | 'buckets' | 'nodes'> {
  readonly nodePrices: NodePrices
}

/** Wires the checkout. Holds only caches; `createApp` serves it. */
export function assembleCheckout(parts: CheckoutParts): CheckoutDeps {
  const budget = createVisitorBudget(parts)
  return {
    ...parts,
    ...createQuotes(parts, budget),
    budget,
    clientOf: parts.nodes.clientOf,
    linkQuota: createLinkQuota(parts),
    numbers: createInvoiceNumbers(parts),
  }
}
