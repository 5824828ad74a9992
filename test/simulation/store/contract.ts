import type { ContractCase } from './contract-case.ts'
import { CURSOR_CASES } from './contract-cursors.ts'
import { DELIVERY_CASES } from './contract-deliveries.ts'
import { INVOICE_LIST_CASES } from './contract-invoice-lists.ts'
import { INVOICE_CASES } from './contract-invoices.ts'
import { OPERATION_CASES } from './contract-operations.ts'
import { PAYMENT_CASES } from './contract-payments.ts'
import { PRODUCT_CASES } from './contract-products.ts'
import { RECORD_CASES } from './contract-records.ts'
import { WALLET_CASES } from './contract-wallets.ts'
import { WORKSPACE_CASES } from './contract-workspaces.ts'

/** What both stores must do alike: the real replica set, and the one of the simulation. */
export const CONTRACT: readonly ContractCase[] = [
  ...INVOICE_CASES,
  ...INVOICE_LIST_CASES,
  ...PAYMENT_CASES,
  ...DELIVERY_CASES,
  ...RECORD_CASES,
  ...WORKSPACE_CASES,
  ...WALLET_CASES,
  ...CURSOR_CASES,
  ...PRODUCT_CASES,
  ...OPERATION_CASES,
]
