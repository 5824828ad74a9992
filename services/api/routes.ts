import { currencyAndRateOperations } from './operations/currencies-and-rates.ts'
import { invoiceOperations } from './operations/invoices.ts'
import { paymentLinkOperations } from './operations/payment-links.ts'
import { paymentOperations } from './operations/payments.ts'
import { productOperations } from './operations/products.ts'
import { webhookEndpointOperations } from './operations/webhook-endpoints.ts'
import type { Route } from './route.ts'

/** Every operation of the REST API, in the order of the reference. */
export const ROUTES: readonly Route[] = [
  ...invoiceOperations,
  ...paymentLinkOperations,
  ...productOperations,
  ...paymentOperations,
  ...currencyAndRateOperations,
  ...webhookEndpointOperations,
]
