import { CATALOGUE_CASES } from './contract-catalogue.ts'
import { DELIVERY_CASES } from './contract-deliveries.ts'
import { INVOICE_CASES } from './contract-invoices.ts'
import { PAYMENT_CASES } from './contract-payments.ts'
import type { Repositories } from './contract-stage.ts'
import { TENANCY_CASES } from './contract-tenancy.ts'
import { WALLET_CASES } from './contract-wallets.ts'

/** One promise of the store that the product relies on: asked of an empty database, it gives exactly this. */
export interface ContractCase {
  readonly name: string
  ask(on: Repositories): Promise<unknown>
  readonly gives: unknown
}

/** What both stores must do alike: the real replica set, and the one of the simulation. */
export const CONTRACT: readonly ContractCase[] = [
  ...INVOICE_CASES,
  ...PAYMENT_CASES,
  ...DELIVERY_CASES,
  ...TENANCY_CASES,
  ...WALLET_CASES,
  ...CATALOGUE_CASES,
]
