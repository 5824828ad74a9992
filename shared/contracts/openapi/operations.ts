import { CATALOGUE_OPERATIONS } from './catalogue-operations.ts'
import { INVOICE_OPERATIONS } from './invoice-operations.ts'
import { MONEY_OPERATIONS } from './money-operations.ts'
import type { Operation } from './operation.ts'
import { WEBHOOK_ENDPOINT_OPERATIONS } from './webhook-endpoint-operations.ts'

/** Every operation of the interface: the source of the OpenAPI document, the reference page and the response check. */
export const OPERATIONS: readonly Operation[] = [
  ...INVOICE_OPERATIONS,
  ...CATALOGUE_OPERATIONS,
  ...MONEY_OPERATIONS,
  ...WEBHOOK_ENDPOINT_OPERATIONS,
]
