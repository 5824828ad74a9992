import { pageQuery } from '#shared/contracts/http/list-query.ts'
import { paymentLinkBody } from '#shared/contracts/http/payment-link-create.ts'
import { paymentLinkResource } from '#shared/contracts/http/payment-link-resource.ts'
import {
  inactiveLinkExample,
  paymentLinkCreateExample,
  paymentLinkExample,
} from '#shared/contracts/openapi/examples/products.ts'
import {
  createPaymentLink,
  deactivatePaymentLink,
  getPaymentLink,
  listPaymentLinks,
} from '#shared/usecases/payment-links/manage-payment-links.ts'
import { readPage } from '#shared/usecases/requests/list-cursor.ts'
import { defineOperation } from '../define-operation.ts'

const LINK = {
  resource: paymentLinkResource,
  envelope: 'PaymentLinkResponse',
  listMax: null,
  example: paymentLinkExample,
}

/** Payment links, in the order of the reference. */
export const paymentLinkOperations = [
  /** The key mode's links, newest first, inactive ones included. */
  defineOperation({
    method: 'GET',
    path: '/payment-links',
    operationId: 'listPaymentLinks',
    tag: 'Payment links',
    summary: 'List payment links',
    description: "A page of the payment links of the key's mode, newest first.",
    scope: 'links:read',
    query: pageQuery,
    success: {
      ...LINK,
      status: 200,
      description: 'A page of payment links.',
      envelope: 'PaymentLinkListResponse',
      listMax: 100,
    },
    handle: (deps, { workspace: { id: workspaceId }, mode, query }) => {
      const scope = { list: 'payment-links', workspaceId, mode }
      return readPage(deps, scope, query, (page) => listPaymentLinks(deps, { workspaceId, mode, ...page }))
    },
  }),

  /** 404 and 409 refer to the product that the link copies. */
  defineOperation({
    method: 'POST',
    path: '/payment-links',
    operationId: 'createPaymentLink',
    tag: 'Payment links',
    summary: 'Create a payment link',
    description:
      'Either copies `title`, price and `currency` of a product (`product_id`), or takes its own terms: `title`, ' +
      '`currency`, and a fixed `amount` or `allow_custom_amount` with optional bounds.',
    scope: 'links:write',
    restricted: true,
    body: { schema: paymentLinkBody, example: paymentLinkCreateExample },
    success: { ...LINK, status: 201, description: 'The new payment link.' },
    errors: ['NOT_FOUND', 'INVALID_STATE', 'PLAN_LIMIT_REACHED'],
    handle: (deps, { workspace, mode, body, ids }) =>
      createPaymentLink(deps, { workspace, mode, body, linkId: ids.resourceId }),
  }),

  /** The link, its status and its number of uses. */
  defineOperation({
    method: 'GET',
    path: '/payment-links/{id}',
    operationId: 'getPaymentLink',
    tag: 'Payment links',
    summary: 'Read a payment link',
    description: 'The payment link with its status and its number of uses.',
    scope: 'links:read',
    success: { ...LINK, status: 200, description: 'The payment link.' },
    handle: (deps, { workspace, mode, id }) => getPaymentLink(deps, { workspaceId: workspace.id, mode, linkId: id }),
  }),

  /** 200 with the inactive link, also when it was inactive before. The audit log names the key. */
  defineOperation({
    method: 'POST',
    path: '/payment-links/{id}/deactivate',
    operationId: 'deactivatePaymentLink',
    tag: 'Payment links',
    summary: 'Deactivate a payment link',
    description:
      'The link accepts no new payments; its existing invoices stay unchanged. Repeating the request changes nothing.',
    scope: 'links:write',
    success: { ...LINK, status: 200, description: 'The inactive payment link.', example: inactiveLinkExample },
    handle: (deps, { workspace, mode, actor, id }) =>
      deactivatePaymentLink(deps, { workspaceId: workspace.id, mode, linkId: id, attribution: { by: actor } }),
  }),
]
