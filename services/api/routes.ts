import { cancelInvoiceEndpoint } from './endpoints/cancel-invoice.ts'
import { createInvoiceEndpoint } from './endpoints/create-invoice.ts'
import { createPaymentLinkEndpoint } from './endpoints/create-payment-link.ts'
import { createProductEndpoint } from './endpoints/create-product.ts'
import { createWebhookEndpoint } from './endpoints/create-webhook-endpoint.ts'
import { deactivatePaymentLinkEndpoint } from './endpoints/deactivate-payment-link.ts'
import { deleteWebhookEndpoint } from './endpoints/delete-webhook-endpoint.ts'
import { estimate } from './endpoints/estimate.ts'
import { getInvoice } from './endpoints/get-invoice.ts'
import { getPaymentLinkEndpoint } from './endpoints/get-payment-link.ts'
import { getProductEndpoint } from './endpoints/get-product.ts'
import { listCurrencies } from './endpoints/list-currencies.ts'
import { listInvoices } from './endpoints/list-invoices.ts'
import { listPaymentLinksEndpoint } from './endpoints/list-payment-links.ts'
import { listPayments } from './endpoints/list-payments.ts'
import { listProductsEndpoint } from './endpoints/list-products.ts'
import { listRates } from './endpoints/list-rates.ts'
import { listWebhookEndpoints } from './endpoints/list-webhook-endpoints.ts'
import { simulateInvoice } from './endpoints/simulate-invoice.ts'
import type { Route } from './route.ts'

/** Every operation of the REST interface. A new one is a file in `endpoints/` and a row here. */
export const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/invoices', scope: 'invoices:read', endpoint: listInvoices },
  {
    method: 'POST',
    path: '/invoices',
    scope: 'invoices:write',
    restricted: true,
    idempotency: 'own',
    endpoint: createInvoiceEndpoint,
  },
  { method: 'GET', path: '/invoices/:id', scope: 'invoices:read', endpoint: getInvoice },
  {
    method: 'POST',
    path: '/invoices/:id/cancel',
    scope: 'invoices:write',
    idempotency: 'stored',
    endpoint: cancelInvoiceEndpoint,
  },
  {
    method: 'POST',
    path: '/test/invoices/:id/simulate',
    scope: 'invoices:write',
    testOnly: true,
    idempotency: 'stored',
    endpoint: simulateInvoice,
  },
  { method: 'GET', path: '/payment-links', scope: 'links:read', endpoint: listPaymentLinksEndpoint },
  {
    method: 'POST',
    path: '/payment-links',
    scope: 'links:write',
    restricted: true,
    idempotency: 'stored',
    endpoint: createPaymentLinkEndpoint,
  },
  { method: 'GET', path: '/payment-links/:id', scope: 'links:read', endpoint: getPaymentLinkEndpoint },
  {
    method: 'POST',
    path: '/payment-links/:id/deactivate',
    scope: 'links:write',
    idempotency: 'stored',
    endpoint: deactivatePaymentLinkEndpoint,
  },
  { method: 'GET', path: '/products', scope: 'products:read', endpoint: listProductsEndpoint },
  {
    method: 'POST',
    path: '/products',
    scope: 'products:write',
    restricted: true,
    idempotency: 'stored',
    endpoint: createProductEndpoint,
  },
  { method: 'GET', path: '/products/:id', scope: 'products:read', endpoint: getProductEndpoint },
  { method: 'GET', path: '/payments', scope: 'payments:read', endpoint: listPayments },
  { method: 'GET', path: '/currencies', scope: 'rates:read', endpoint: listCurrencies },
  { method: 'GET', path: '/rates', scope: 'rates:read', endpoint: listRates },
  { method: 'POST', path: '/estimate', scope: 'rates:read', idempotency: 'stored', endpoint: estimate },
  { method: 'GET', path: '/webhook-endpoints', scope: 'webhooks:manage', endpoint: listWebhookEndpoints },
  {
    method: 'POST',
    path: '/webhook-endpoints',
    scope: 'webhooks:manage',
    idempotency: 'stored',
    endpoint: createWebhookEndpoint,
  },
  { method: 'DELETE', path: '/webhook-endpoints/:id', scope: 'webhooks:manage', endpoint: deleteWebhookEndpoint },
]
