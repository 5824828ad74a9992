import type { AssetId, InvoiceStatus, Mode } from '#shared/domain/enumerations.ts'
import type { InvoiceTerms, Ms } from '#shared/domain/invoice/model.ts'
import type { Invoice } from './invoices.ts'
import type { ListOrder } from './list-order.ts'

/** A search that identifies one invoice, or few. */
export type InvoiceSearch =
  | { readonly kind: 'id'; readonly id: string }
  /** Of the invoice, or of the merchant's order. */
  | { readonly kind: 'number'; readonly number: number; readonly orderId: string }
  | { readonly kind: 'order'; readonly orderId: string }
  | { readonly kind: 'email'; readonly email: string }
  /** Claims on an address, or prefixes of claims on amounts at it. */
  | { readonly kind: 'address'; readonly claims: readonly string[]; readonly prefixes: readonly string[] }

/** A page of invoices in the dashboard. */
export interface InvoicePageQuery {
  readonly workspaceId: string
  readonly mode: Mode
  readonly search: InvoiceSearch | null
  readonly status: InvoiceStatus | null
  readonly createdFrom: Ms | null
  /** Exclusive. */
  readonly createdTo: Ms | null
  readonly asset: AssetId | null
  readonly source: InvoiceTerms['source'] | null
  readonly flag: 'late' | 'short' | null
  /** Of creation; newest first when absent. */
  readonly order?: ListOrder
  readonly limit: number
  /** The last invoice of the page before, in this order; null = from the start. */
  readonly beforeId: string | null
}

/** Reads invoices for people. */
export interface InvoiceLookups {
  /**
   * At most `limit` invoices and where to continue, null at the end. Filters that no index serves read a bounded number of
   * invoices at a time, so a page may hold fewer, even none, before the end. Outboxes are left out.
   */
  page(query: InvoicePageQuery): Promise<{ readonly invoices: readonly Invoice[]; readonly next: string | null }>
  /** Invoices of each status, each counted up to `max`; creation bounds as in a page. */
  countByStatus(
    scope: Pick<InvoicePageQuery, 'workspaceId' | 'mode' | 'createdFrom' | 'createdTo'>,
    max: number,
  ): Promise<ReadonlyMap<InvoiceStatus, number>>
  /** Those that exist, by id. */
  findMany(ids: readonly string[]): Promise<ReadonlyMap<string, Invoice>>
  findByNumber(workspaceId: string, mode: Mode, number: number): Promise<Invoice | null>
}
