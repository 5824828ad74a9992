import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Payment } from './payments.ts'

/** A page of a workspace's payments in the dashboard, newest first: also those that do not count. */
export interface PaymentPageQuery {
  readonly workspaceId: string
  readonly mode: Mode
  readonly network: NetworkId | null
  readonly counted: boolean | null
  readonly createdFrom: Ms | null
  /** Exclusive. */
  readonly createdTo: Ms | null
  readonly limit: number
  readonly beforeId: string | null
}

/** Reads payments for people. */
export interface PaymentLookups {
  /** At most `limit` payments and where to continue, null at the end; as with invoices a page may be short before the end. */
  page(query: PaymentPageQuery): Promise<{ readonly payments: readonly Payment[]; readonly next: string | null }>
  /** The payments of the same query oldest first, starting after `afterId`: for reading them all. Only the last page is short. */
  pageForward(query: Omit<PaymentPageQuery, 'beforeId'>, afterId: string | null): Promise<readonly Payment[]>
  /** Every payment of these invoices, oldest first. */
  ofInvoices(invoiceIds: readonly string[]): Promise<readonly Payment[]>
}
