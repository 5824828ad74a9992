import { pageQuery } from '#shared/contracts/http/list-query.ts'
import { paymentLinkResource } from '#shared/contracts/http/payment-link-resource.ts'
import { paymentLinkExample } from '#shared/contracts/openapi/examples/products.ts'
import { listPaymentLinks } from '#shared/usecases/payment-links/manage-payment-links.ts'
import { cutPage } from '#shared/usecases/requests/list-cursor.ts'
import { defineOperation } from '../define-operation.ts'

/** The key mode's links, newest first, inactive ones included. */
export const listPaymentLinksOperation = defineOperation({
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
  handle: async (deps, { workspace, mode, query: { limit, cursor } }) => {
    const scope = { list: 'payment-links', workspaceId: workspace.id, mode }
    const links = await listPaymentLinks(deps, {
      workspaceId: workspace.id,
      mode,
      limit: limit + 1,
      beforeId: cursor === undefined ? null : deps.listCursor.decode(scope, cursor),
    })
    return cutPage(links, limit, (last) => deps.listCursor.encode(scope, last.id))
  },
})
