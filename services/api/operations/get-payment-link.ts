import { paymentLinkResource } from '#shared/contracts/http/payment-link-resource.ts'
import { paymentLinkExample } from '#shared/contracts/openapi/examples/products.ts'
import { getPaymentLink } from '#shared/usecases/payment-links/manage-payment-links.ts'
import { defineOperation } from '../define-operation.ts'

/** The link, its status and its number of uses. */
export const getPaymentLinkOperation = defineOperation({
  method: 'GET',
  path: '/payment-links/{id}',
  operationId: 'getPaymentLink',
  tag: 'Payment links',
  summary: 'Read a payment link',
  description: 'The payment link with its status and its number of uses.',
  scope: 'links:read',
  success: {
    status: 200,
    description: 'The payment link.',
    resource: paymentLinkResource,
    envelope: 'PaymentLinkResponse',
    listMax: null,
    example: paymentLinkExample,
  },
  errors: [],
  handle: (deps, { workspace, mode, id }) => getPaymentLink(deps, { workspaceId: workspace.id, mode, linkId: id }),
})
