import { pageQuery } from '#shared/contracts/http/list-query.ts'
import { paymentLinkBody } from '#shared/contracts/http/payment-link-create.ts'
import { paymentLinkResource } from '#shared/contracts/http/payment-link-resource.ts'
import { productBody } from '#shared/contracts/http/product-create.ts'
import { productResource } from '#shared/contracts/http/product-resource.ts'
import {
  inactiveLinkExample,
  paymentLinkCreateExample,
  paymentLinkExample,
  productCreateExample,
  productExample,
} from './examples/catalogue.ts'
import type { Operation } from './operation.ts'

const oneLink = { resource: paymentLinkResource, envelope: 'PaymentLinkResponse', listMax: null } as const
const oneProduct = { resource: productResource, envelope: 'ProductResponse', listMax: null } as const

/** Operations on payment links and on the products they sell. */
export const CATALOGUE_OPERATIONS: readonly Operation[] = [
  {
    method: 'GET',
    path: '/payment-links',
    operationId: 'listPaymentLinks',
    tag: 'Payment links',
    summary: 'List payment links',
    description: "A page of the payment links of the key's mode, newest first.",
    scope: 'links:read',
    query: pageQuery,
    success: {
      status: 200,
      description: 'A page of payment links.',
      resource: paymentLinkResource,
      envelope: 'PaymentLinkListResponse',
      listMax: 100,
      example: paymentLinkExample,
    },
    errors: [],
  },
  {
    method: 'POST',
    path: '/payment-links',
    operationId: 'createPaymentLink',
    tag: 'Payment links',
    summary: 'Create a payment link',
    description:
      'Either copies `title`, price and `currency` of a product (`product_id`), or takes terms of its own: `title`, ' +
      '`currency`, and a fixed `amount` or `allow_custom_amount` with optional bounds.',
    scope: 'links:write',
    restricted: true,
    body: { schema: paymentLinkBody, example: paymentLinkCreateExample },
    success: { status: 201, description: 'The new payment link.', ...oneLink, example: paymentLinkExample },
    errors: ['NOT_FOUND', 'INVALID_STATE', 'PLAN_LIMIT_REACHED'],
  },
  {
    method: 'GET',
    path: '/payment-links/{id}',
    operationId: 'getPaymentLink',
    tag: 'Payment links',
    summary: 'Read a payment link',
    description: 'The payment link with its status and its number of uses.',
    scope: 'links:read',
    success: { status: 200, description: 'The payment link.', ...oneLink, example: paymentLinkExample },
    errors: [],
  },
  {
    method: 'POST',
    path: '/payment-links/{id}/deactivate',
    operationId: 'deactivatePaymentLink',
    tag: 'Payment links',
    summary: 'Deactivate a payment link',
    description:
      'The link takes no new payments; invoices made from it stay as they are. Repeating it changes nothing.',
    scope: 'links:write',
    success: { status: 200, description: 'The inactive payment link.', ...oneLink, example: inactiveLinkExample },
    errors: [],
  },
  {
    method: 'GET',
    path: '/products',
    operationId: 'listProducts',
    tag: 'Products',
    summary: 'List products',
    description: "A page of the products of the key's mode, newest first.",
    scope: 'products:read',
    query: pageQuery,
    success: {
      status: 200,
      description: 'A page of products.',
      resource: productResource,
      envelope: 'ProductListResponse',
      listMax: 100,
      example: productExample,
    },
    errors: [],
  },
  {
    method: 'POST',
    path: '/products',
    operationId: 'createProduct',
    tag: 'Products',
    summary: 'Create a product',
    description: 'A `sku` that is taken is a `VALIDATION_ERROR` with the path `sku`.',
    scope: 'products:write',
    restricted: true,
    body: { schema: productBody, example: productCreateExample },
    success: { status: 201, description: 'The new product.', ...oneProduct, example: productExample },
    errors: [],
  },
  {
    method: 'GET',
    path: '/products/{id}',
    operationId: 'getProduct',
    tag: 'Products',
    summary: 'Read a product',
    description: 'The product as it is now.',
    scope: 'products:read',
    success: { status: 200, description: 'The product.', ...oneProduct, example: productExample },
    errors: [],
  },
]
