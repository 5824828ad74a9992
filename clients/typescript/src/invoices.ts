import { ensureInvoice } from './ensure-invoice.ts'
import { createList, type PaymeshList } from './list.ts'
import { pathId } from './path-id.ts'
import type { CallOptions, Transport, WriteOptions } from './transport.ts'
import type { Invoice, InvoiceCreate, InvoiceListQuery, SimulationScenario } from './types.ts'

/** Operations on invoices. Scopes `invoices:read` and `invoices:write`. */
export interface Invoices {
  /**
   * Creates an invoice. Without `asset` the payer chooses one on the page at `urls.checkout`; with it the address and
   * the exact amount are in `crypto` at once.
   */
  create(input: InvoiceCreate, options?: WriteOptions): Promise<Invoice>
  get(id: string, options?: CallOptions): Promise<Invoice>
  /**
   * The invoice by which the order `input.order_id` is to be paid now: the one with money, however old, else the newest that lives, else the
   * next attempt, under the key `order-<order id>-<attempt>`. Calls at the same time get the same invoice; others that wait are cancelled. With
   * another price or coin the old invoice is cancelled first; when money has come for it, it is returned as it is: compare `amount` and `status`.
   */
  ensure(input: InvoiceCreate & { readonly order_id: string }, options?: CallOptions): Promise<Invoice>
  list(query?: InvoiceListQuery, options?: CallOptions): PaymeshList<Invoice>
  /** Cancels an invoice that has received nothing; throws `INVALID_STATE` otherwise. */
  cancel(id: string, options?: WriteOptions): Promise<Invoice>
  /** Test keys only: simulates a payment (or its absence) that emits the same events as a real one. */
  simulate(id: string, scenario: SimulationScenario, options?: WriteOptions): Promise<Invoice>
}

/** The invoice operations over `transport`; `now` is Unix milliseconds. */
export function createInvoices(transport: Transport, now: () => number): Invoices {
  const invoices: Invoices = {
    create: async (body, options) =>
      (await transport<Invoice>({ method: 'POST', path: '/invoices', body, options })).data,
    get: async (id, options) =>
      (await transport<Invoice>({ method: 'GET', path: `/invoices/${pathId(id)}`, options })).data,
    ensure: async (input, options) => await ensureInvoice(invoices, input, now(), options),
    list: (query, options) => createList(transport, '/invoices', query, options),
    cancel: async (id, options) =>
      (await transport<Invoice>({ method: 'POST', path: `/invoices/${pathId(id)}/cancel`, options })).data,
    simulate: async (id, scenario, options) => {
      const path = `/test/invoices/${pathId(id)}/simulate`
      return (await transport<Invoice>({ method: 'POST', path, body: { scenario }, options })).data
    },
  }
  return invoices
}
