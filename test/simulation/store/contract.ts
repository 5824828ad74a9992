import type { ContractCase } from './contract-case.ts'
import { CATALOGUE_CASES } from './contract-catalogue.ts'
import { DELIVERY_CASES } from './contract-deliveries.ts'
import { INVOICE_LIST_CASES } from './contract-invoice-lists.ts'
import { INVOICE_CASES } from './contract-invoices.ts'
import { OPERATION_CASES } from './contract-operations.ts'
import { PAYMENT_CASES } from './contract-payments.ts'
import { RECORD_CASES } from './contract-records.ts'
import { TENANCY_CASES } from './contract-tenancy.ts'
import { WALLET_CASES } from './contract-wallets.ts'

/** What both stores must do alike: the real replica set, and the one of the simulation. */
export const CONTRACT: readonly ContractCase[] = [
  ...INVOICE_CASES,
  ...INVOICE_LIST_CASES,
  ...PAYMENT_CASES,
  ...DELIVERY_CASES,
  ...RECORD_CASES,
  ...TENANCY_CASES,
  ...WALLET_CASES,
  ...CATALOGUE_CASES,
  ...OPERATION_CASES,
]
