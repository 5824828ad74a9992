import { createList, type PaymeshList } from './list.ts'
import { pathId } from './path-id.ts'
import type { CallOptions, Transport, WriteOptions } from './transport.ts'
import type { ListQuery, PaymentLink, PaymentLinkCreate } from './types.ts'

/** Operations on payment links. Scopes `links:read` and `links:write`. */
export interface PaymentLinks {
  /** Creates a link that anyone may pay any number of times, with the terms of a product or its own. */
  create(input: PaymentLinkCreate, options?: WriteOptions): Promise<PaymentLink>
  get(id: string, options?: CallOptions): Promise<PaymentLink>
  list(query?: ListQuery, options?: CallOptions): PaymeshList<PaymentLink>
  /** Stops the link from accepting new payments; its invoices are unchanged. */
  deactivate(id: string, options?: WriteOptions): Promise<PaymentLink>
}

/** The payment link operations over `transport`. */
export function createPaymentLinks(transport: Transport): PaymentLinks {
  return {
    create: async (body, options) =>
      (await transport<PaymentLink>({ method: 'POST', path: '/payment-links', body, options })).data,
    get: async (id, options) =>
      (await transport<PaymentLink>({ method: 'GET', path: `/payment-links/${pathId(id)}`, options })).data,
    list: (query, options) => createList(transport, '/payment-links', query, options),
    deactivate: async (id, options) => {
      const path = `/payment-links/${pathId(id)}/deactivate`
      return (await transport<PaymentLink>({ method: 'POST', path, options })).data
    },
  }
}
