import { paymentLinkBody } from '#shared/contracts/http/payment-link-create.ts'
import { paymentLinkResource } from '#shared/contracts/http/payment-link-resource.ts'
import { paymentLinkCreateExample, paymentLinkExample } from '#shared/contracts/openapi/examples/products.ts'
import { createPaymentLink } from '#shared/usecases/payment-links/manage-payment-links.ts'
import { defineOperation } from '../define-operation.ts'

/** 404 and 409 refer to the product that the link copies. */
export const createPaymentLinkOperation = defineOperation({
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
  success: {
    status: 201,
    description: 'The new payment link.',
    resource: paymentLinkResource,
    envelope: 'PaymentLinkResponse',
    listMax: null,
    example: paymentLinkExample,
  },
  errors: ['NOT_FOUND', 'INVALID_STATE', 'PLAN_LIMIT_REACHED'],
  handle: (deps, { workspace, mode, body, ids }) =>
    createPaymentLink(deps, { workspace, mode, body, linkId: ids.resourceId }),
})
