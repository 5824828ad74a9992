import { paymentLinkResource } from '#shared/contracts/http/payment-link-resource.ts'
import { inactiveLinkExample } from '#shared/contracts/openapi/examples/products.ts'
import { deactivatePaymentLink } from '#shared/usecases/payment-links/manage-payment-links.ts'
import { defineOperation } from '../define-operation.ts'

/** 200 with the inactive link, also when it was inactive before. The audit log names the key. */
export const deactivatePaymentLinkOperation = defineOperation({
  method: 'POST',
  path: '/payment-links/{id}/deactivate',
  operationId: 'deactivatePaymentLink',
  tag: 'Payment links',
  summary: 'Deactivate a payment link',
  description:
    'The link accepts no new payments; its existing invoices stay unchanged. Repeating the request changes nothing.',
  scope: 'links:write',
  success: {
    status: 200,
    description: 'The inactive payment link.',
    resource: paymentLinkResource,
    envelope: 'PaymentLinkResponse',
    listMax: null,
    example: inactiveLinkExample,
  },
  errors: [],
  handle: (deps, { workspace, mode, actor, id }) =>
    deactivatePaymentLink(deps, { workspaceId: workspace.id, mode, linkId: id, attribution: { by: actor } }),
})
