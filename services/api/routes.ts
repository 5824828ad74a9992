import { cancelInvoiceOperation } from './operations/cancel-invoice.ts'
import { createEstimateOperation } from './operations/create-estimate.ts'
import { createInvoiceOperation } from './operations/create-invoice.ts'
import { createPaymentLinkOperation } from './operations/create-payment-link.ts'
import { createProductOperation } from './operations/create-product.ts'
import { createWebhookEndpointOperation } from './operations/create-webhook-endpoint.ts'
import { deactivatePaymentLinkOperation } from './operations/deactivate-payment-link.ts'
import { deleteWebhookEndpointOperation } from './operations/delete-webhook-endpoint.ts'
import { getInvoiceOperation } from './operations/get-invoice.ts'
import { getPaymentLinkOperation } from './operations/get-payment-link.ts'
import { getProductOperation } from './operations/get-product.ts'
import { listCurrenciesOperation } from './operations/list-currencies.ts'
import { listInvoicesOperation } from './operations/list-invoices.ts'
import { listPaymentLinksOperation } from './operations/list-payment-links.ts'
import { listPaymentsOperation } from './operations/list-payments.ts'
import { listProductsOperation } from './operations/list-products.ts'
import { listRatesOperation } from './operations/list-rates.ts'
import { listWebhookEndpointsOperation } from './operations/list-webhook-endpoints.ts'
import { simulateInvoiceOperation } from './operations/simulate-invoice.ts'
import type { Route } from './route.ts'

/** Every operation of the REST API, in the order of the reference. A new one is a file in `operations/` and a row here. */
export const ROUTES: readonly Route[] = [
  listInvoicesOperation,
  createInvoiceOperation,
  getInvoiceOperation,
  cancelInvoiceOperation,
  simulateInvoiceOperation,
  listPaymentLinksOperation,
  createPaymentLinkOperation,
  getPaymentLinkOperation,
  deactivatePaymentLinkOperation,
  listProductsOperation,
  createProductOperation,
  getProductOperation,
  listPaymentsOperation,
  listCurrenciesOperation,
  listRatesOperation,
  createEstimateOperation,
  listWebhookEndpointsOperation,
  createWebhookEndpointOperation,
  deleteWebhookEndpointOperation,
]
