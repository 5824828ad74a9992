import type { AssetId, InvoiceStatus, Mode } from '#shared/domain/enumerations.ts'
import type { InvoiceTerms, Ms } from '#shared/domain/invoice/model.ts'
import type { ListOrder, MovedPeriod } from './list-order.ts'

/** A search that identifies one invoice, or few. */
export type InvoiceSearch =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  /** Of the invoice, or what else a number may be. */
  | { readonly kind: 'number'; readonly number: number; readonly orderId: string }
  /** An order's reference, words of a customer's name, or an amount (`readSearchText`). */
  | { readonly kind: 'text'; readonly text: string }
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
  /** Of another time than creation; none when absent. */
  readonly moved?: MovedPeriod
  readonly asset: AssetId | null
  readonly source: InvoiceTerms['source'] | null
  readonly flag: 'late' | 'short' | null
  /** Of creation; newest first when absent. */
  readonly order?: ListOrder
  readonly limit: number
  /** The last invoice of the page before, in this order; null = from the start. */
  readonly beforeId: string | null
}
